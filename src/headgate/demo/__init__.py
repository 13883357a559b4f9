"""The demo: joins auctions and bids on Spark within a budget, and compares policies by recall."""
