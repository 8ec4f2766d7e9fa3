//! As much of JSON Schema as the files in `docs/schemas` use. Stricter than it in one thing: a field
//! that the schema does not name is an error, so that none is added without a word about it.

use serde_json::Value;

/// What is wrong with `value`, each with its place.
pub fn check(schema: &Value, value: &Value, place: &str, wrong: &mut Vec<String>) {
    if let Some(constant) = schema.get("const") {
        if constant != value {
            wrong.push(format!("{place}: {value} is not {constant}"));
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
        if !allowed.contains(value) {
            wrong.push(format!("{place}: {value} is none of {allowed:?}"));
        }
    }
    if let Some(kinds) = schema.get("type") {
        let is_one = match kinds {
            Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
            kind => is_of(kind, value),
        };
        if !is_one {
            wrong.push(format!("{place}: {value} is not {kinds}"));
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (at, value) in values.iter().enumerate() {
            check(items, value, &format!("{place}[{at}]"), wrong);
        }
    }
    let (Some(properties), Some(fields)) = (schema.get("properties"), value.as_object()) else {
        return;
    };
    for (name, field) in fields {
        match properties.get(name) {
            Some(schema) => check(schema, field, &format!("{place}.{name}"), wrong),
            None => wrong.push(format!("{place}.{name} is not described")),
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            wrong.push(format!("{place}.{name} is missing"));
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other} is not known"),
    }
}

#[test]
fn a_value_of_another_shape_is_found() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"],
        "properties": {"a": {"type": ["string", "null"]}, "b": {"items": {"enum": [1, 2]}}},
    });
    let wrong = |value: Value| {
        let mut wrong = Vec::new();
        check(&schema, &value, "", &mut wrong);
        wrong.len()
    };
    assert_eq!(wrong(serde_json::json!({"a": null, "b": [1, 2]})), 0);
    assert_eq!(wrong(serde_json::json!({"a": 1})), 1);
    assert_eq!(wrong(serde_json::json!({"b": [3], "c": 0})), 3);
    assert_eq!(wrong(serde_json::json!([])), 1);
}
