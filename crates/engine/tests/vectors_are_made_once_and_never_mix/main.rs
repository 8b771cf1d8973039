//! Embedding a store and searching by vectors, with models that fail in every way a model can.

mod a_model_in_trouble_costs_little;
mod a_reranker_has_the_last_word;
#[path = "../support/embedder.rs"]
mod embedder;
mod runs_of_several_models_never_mix;
mod vectors_find_what_words_do_not;
