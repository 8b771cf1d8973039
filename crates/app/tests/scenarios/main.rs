//! The real binary, one scenario a file, named as a sentence.

#[allow(dead_code, reason = "shared with tests that use other parts of it")]
#[path = "../../../providers/tests/stub/mod.rs"]
mod stub;

mod agent;
mod support;

mod a_bad_header_is_text_and_a_warning;
mod a_bad_reply_costs_only_its_passage;
mod a_blank_file_is_skipped_with_a_reason;
mod a_hook_never_fails_its_agent;
mod a_killed_extraction_repeats_only_what_was_on_its_way;
mod a_killed_run_costs_nothing;
mod a_model_answers_and_is_checked;
mod a_model_queries_the_graph;
mod a_name_leads_to_its_neighbours;
mod a_question_about_some_documents_counts_them;
mod a_schema_is_proposed_and_imported;
mod a_search_is_logged_after_it_is_shown;
mod agents_of_one_namespace_see_nothing_of_another;
mod agents_speak_the_protocol;
mod an_export_comes_back_the_same;
mod an_unknown_key_names_file_and_line;
mod chat_models_are_configured_by_file_and_environment;
mod demo_shows_both_hops;
mod escape_sequences_never_reach_the_terminal;
mod exit_codes_tell_what_happened;
mod json_keeps_its_shape;
mod namespaces_never_mix;
mod no_command_changes_a_source;
mod nothing_found_is_an_answer;
mod punctuation_in_a_query_is_just_text;
mod stale_results_say_so;
mod stdout_carries_results_only;
#[cfg(unix)]
mod the_readme_shows_what_is_printed;
mod the_store_is_found_upwards;
mod vectors_are_made_beside_everything_else;
mod watch_picks_up_an_edit;
mod what_a_model_found_is_reviewed;
mod what_is_remembered_is_recalled;
mod what_nobody_waits_for_is_stopped;
mod what_was_stated_once_holds;
mod writers_wait_and_readers_never_fail;
