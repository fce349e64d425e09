"""The command line: words in, words out; nothing is computed here."""
