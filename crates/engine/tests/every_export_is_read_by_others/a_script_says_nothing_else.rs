use std::collections::BTreeSet;

use malha_engine::exchange::ExportFormat;
use open_cypher::ast::visit::{Visitor, walk_expr, walk_label_expression, walk_path_factor};
use open_cypher::ast::{Expr, ExprKind, LabelExpression, LabelExpressionKind, LiteralKind};
use open_cypher::ast::{PathFactor, PathFactorKind};

use crate::labels::{RELATIONS, TYPE, chunks, engine, names, text};

/// What a parsed script says.
#[derive(Default)]
struct Said {
    texts: BTreeSet<String>,
    labels: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl<'ast> Visitor<'ast> for Said {
    fn visit_expr(&mut self, node: &'ast Expr) {
        if let ExprKind::Literal(literal) = &node.kind
            && let LiteralKind::String(text) = &literal.kind
        {
            self.texts.insert(text.value.clone());
        }
        walk_expr(self, node);
    }

    fn visit_label_expression(&mut self, node: &'ast LabelExpression) {
        if let LabelExpressionKind::Name(name) = &node.kind {
            self.labels.insert(name.kind.text.clone());
        }
        walk_label_expression(self, node);
    }

    fn visit_path_factor(&mut self, node: &'ast PathFactor) {
        if let PathFactorKind::Relationship(relationship) = &node.kind
            && let Some(LabelExpressionKind::Name(name)) =
                relationship.labels.as_ref().map(|labels| &labels.kind)
        {
            self.types.insert(name.kind.text.clone());
        }
        walk_path_factor(self, node);
    }
}

#[test]
fn a_cypher_script_says_what_the_store_says_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "default");
    let script = text(&engine, ExportFormat::Cypher);
    let mut said = Said::default();
    let mut set_labels = BTreeSet::new();
    for statement in script.split_inclusive(";\n") {
        // Commands of the database itself; no text of a user is in them.
        if statement.starts_with("CREATE INDEX malha_") {
            assert!(statement.ends_with(" ON (n.id);\n"), "{statement}");
            continue;
        }
        let parsed = open_cypher::parse(statement).unwrap_or_else(|error| {
            panic!("{statement}\n{error:?}");
        });
        assert_eq!(parsed.program.statements.len(), 1);
        said.visit_program(&parsed.program);
        set_labels.extend(labels_set(&parsed.program));
    }
    assert!(names(&engine).is_subset(&said.texts));
    assert!(chunks(&engine).is_subset(&said.texts));
    assert_eq!(set_labels, BTreeSet::from([TYPE.to_owned()]));
    for relation in RELATIONS {
        assert!(
            said.types.contains(*relation),
            "{relation} of {:?}",
            said.types
        );
    }
    assert!(
        said.labels
            .is_superset(&BTreeSet::from(["Entity".to_owned(), "Chunk".to_owned()]))
    );
    assert!(!script.contains("\\u0060") && !script.contains("\\u0027"));
}

/// Labels that `SET n:Label` gives, and proof that nothing else is set than whole rows.
fn labels_set(program: &open_cypher::ast::Program) -> BTreeSet<String> {
    use open_cypher::ast::{ClauseKind, SetItemKind};
    struct Sets(BTreeSet<String>);
    impl<'ast> Visitor<'ast> for Sets {
        fn visit_clause(&mut self, clause: &'ast open_cypher::ast::Clause) {
            match &clause.kind {
                ClauseKind::Set(set) => {
                    for item in &set.items {
                        match &item.kind {
                            SetItemKind::Labels { labels, .. } => {
                                let mut said = Said::default();
                                said.visit_label_expression(labels);
                                self.0.extend(said.labels);
                            }
                            SetItemKind::MergeProperties { .. } => {}
                            other => panic!("sets {other:?}"),
                        }
                    }
                }
                ClauseKind::Unwind(_) | ClauseKind::Match(_) | ClauseKind::Merge(_) => {}
                other => panic!("a clause of another kind: {other:?}"),
            }
        }
    }
    let mut sets = Sets(BTreeSet::new());
    sets.visit_program(program);
    sets.0
}
