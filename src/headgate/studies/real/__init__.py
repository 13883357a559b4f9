"""Every policy on real and generated streams: how near does it come to what is possible?"""
