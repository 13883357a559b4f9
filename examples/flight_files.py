"""Write flights from New York as Parquet files, to try the commands on.

Run it:  python examples/flight_files.py
Then:    headgate whatif out/flights/landings out/flights/departures --on plane ...
"""

from headgate.demo.flights import write_flight_files

if __name__ == "__main__":
    write_flight_files("out/flights")
    print("out/flights/landings and out/flights/departures, a file for each day of January 2013")
