use crate::plan::{Base, Plan};
use hedgerow_pack::ObjectKind;

/// The order in which the objects of a plan are written: commits and tags, then trees, both newest
/// first, so that a walk through history reads the pack forwards; then blobs by family, a base and
/// all its direct and indirect deltas, which are read together. Bases come before their deltas.
pub(super) fn order(plan: &Plan<'_>) -> Vec<u32> {
    let families = Families::new(plan);
    let mut order = Order {
        plan,
        done: vec![false; plan.sent],
        order: Vec::with_capacity(plan.sent),
        stack: Vec::new(),
    };
    let numbers = || 0..plan.sent as u32;
    let of_kinds = |kinds: &'static [ObjectKind]| {
        let kind = |number: &u32| plan.entries[*number as usize].kind;
        numbers().filter(move |number| kinds.contains(&kind(number)))
    };
    for number in of_kinds(&[ObjectKind::Commit, ObjectKind::Tag]) {
        order.add(number);
    }
    for number in of_kinds(&[ObjectKind::Tree]) {
        order.add(number);
    }
    for number in numbers() {
        if !order.is_done(number) {
            families.visit(root(plan, number), |member| order.add(member));
        }
    }
    assert_eq!(order.order.len(), plan.sent, "every object has its turn");
    order.order
}

struct Order<'p, 's> {
    plan: &'p Plan<'s>,
    done: Vec<bool>,
    order: Vec<u32>,
    /// Deltas whose bases must be written first.
    stack: Vec<u32>,
}

impl Order<'_, '_> {
    fn is_done(&self, number: u32) -> bool {
        self.done[number as usize]
    }

    fn add(&mut self, number: u32) {
        let mut next = Some(number);
        while let Some(number) = next.filter(|number| !self.is_done(*number)) {
            // Chains have no loops; if one had, this would still end.
            self.done[number as usize] = true;
            self.stack.push(number);
            next = base(self.plan, number);
        }
        while let Some(number) = self.stack.pop() {
            self.order.push(number);
        }
    }
}

/// The sent entry that is the delta base of the entry `number`.
fn base(plan: &Plan<'_>, number: u32) -> Option<u32> {
    match plan.entries[number as usize].delta.as_ref()?.base {
        Base::Entry(base) if !plan.is_had(base) => Some(base),
        _ => None,
    }
}

/// The base at the end of the chain.
fn root(plan: &Plan<'_>, mut number: u32) -> u32 {
    while let Some(base) = base(plan, number) {
        number = base;
    }
    number
}

/// The deltas against each entry, in the order of the plan.
struct Families {
    /// The start of each entry's children in `children`.
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Families {
    fn new(plan: &Plan<'_>) -> Self {
        let mut pairs: Vec<(u32, u32)> = (0..plan.sent as u32)
            .filter_map(|number| Some((base(plan, number)?, number)))
            .collect();
        pairs.sort_unstable();
        let mut starts = Vec::with_capacity(plan.sent + 1);
        let mut at = 0;
        for number in 0..=plan.sent as u32 {
            while pairs.get(at).is_some_and(|(base, _)| *base < number) {
                at += 1;
            }
            starts.push(at as u32);
        }
        Families {
            starts,
            children: pairs.into_iter().map(|(_, child)| child).collect(),
        }
    }

    fn of(&self, number: u32) -> &[u32] {
        let number = number as usize;
        let (start, end) = (self.starts[number], self.starts[number + 1]);
        &self.children[start as usize..end as usize]
    }

    /// Visits `root` and its family: all children of one parent before those of the next.
    fn visit(&self, root: u32, mut visit: impl FnMut(u32)) {
        visit(root);
        let mut parents = vec![root];
        while let Some(parent) = parents.pop() {
            let children = self.of(parent);
            children.iter().for_each(|child| visit(*child));
            parents.extend(children.iter().rev());
        }
    }
}
