use malha_engine::cypher::{Budget, Flow, Limits, MemoryGraph, NodeId, Parameters, Query, Value};

/// Walks that count distinct ends hold what they met, but each only as long as it lasts: many small ones need no more
/// than the largest.
#[test]
fn a_walk_holds_what_it_met_until_it_is_over() {
    const NODES: usize = 200;
    let mut graph = MemoryGraph::default();
    let ring: Vec<NodeId> = (0..NODES).map(|_| graph.add_node(["N"], [])).collect();
    for (at, &node) in ring.iter().enumerate() {
        graph.add_relationship(node, ring[(at + 1) % NODES], "R", []);
    }
    // Several times one walk, a small part of all of them.
    let limits = Limits {
        memory: 100 << 10,
        ..Limits::default()
    };
    for walk in [
        "(a)-[*]->(b)",
        "(a)<-[*]-(b)",
        "(a)-[*]-(b)",
        "(a)-[*0..]->(b)",
    ] {
        let query = format!("MATCH (a:N) MATCH {walk} RETURN count(DISTINCT b)");
        let bound = Query::new(&query, &graph, &Parameters::new()).unwrap();
        let mut counted = Vec::new();
        bound
            .run(&graph, 0, &Budget::new(limits.clone()), &mut |row| {
                counted.push(row[0].clone());
                Ok(Flow::Continue)
            })
            .unwrap_or_else(|error| panic!("{walk}: {error}"));
        assert_eq!(counted, [Value::Integer(NODES as i64)], "{walk}");
    }
}
