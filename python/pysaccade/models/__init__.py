"""Pictures that any vision-language model reads, and what models count."""
