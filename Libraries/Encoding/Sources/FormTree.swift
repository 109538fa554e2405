/// The fields of a form on their way to one ``JSON`` value: a tree.
///
/// All nodes stand in one array and name each other by index. So a field costs one look-up for each part of its name, however many
/// fields the form has; a value inside a value would be copied for every field below it.
struct FormTree {
    private enum Content {
        /// Nothing was put here yet.
        case nothing
        case value(String)
        case object
        case array
    }

    private struct Node {
        var name = ""
        var content = Content.nothing
        var firstChild: Int?
        var lastChild: Int?
        var nextSibling: Int?
    }

    private struct Place: Hashable {
        var parent: Int
        /// In UTF-8, because a client sent it.
        var name: [UInt8]
    }

    /// The root is the first.
    private var nodes = [Node(content: .object)]
    /// The children of objects.
    private var children: [Place: Int] = [:]
    /// How many nodes were visited; tests hold it to grow as the form does.
    private(set) var steps = 0

    /// Puts a value at a path. An empty part of the path appends an element to an array. Of several values the last one counts.
    /// - Returns: false if the path leads through a value, or if the value would replace a parent
    mutating func put(_ value: String, at path: [String]) -> Bool {
        var node = 0
        for name in path {
            steps += 1
            guard let child = child(of: node, name) else { return false }
            node = child
        }
        switch nodes[node].content {
        case .nothing, .value: nodes[node].content = .value(value)
        case .object, .array: return false
        }
        return true
    }

    /// The child with a name, which is made if it is missing; a new child for an empty name.
    private mutating func child(of parent: Int, _ name: String) -> Int? {
        switch nodes[parent].content {
        case .nothing: nodes[parent].content = name.isEmpty ? .array : .object
        case .object where !name.isEmpty: break
        case .array where name.isEmpty: break
        case .value, .object, .array: return nil
        }
        let place = Place(parent: parent, name: Array(name.utf8))
        if !name.isEmpty, let child = children[place] { return child }
        let child = nodes.count
        nodes.append(Node(name: name))
        if let last = nodes[parent].lastChild { nodes[last].nextSibling = child } else { nodes[parent].firstChild = child }
        nodes[parent].lastChild = child
        if !name.isEmpty { children[place] = child }
        return child
    }

    var json: JSON { json(of: 0) }

    /// Calls itself once for each level; ``JSON/depthLimit`` bounds them.
    private func json(of node: Int) -> JSON {
        var members: [JSONObject.Member] = []
        var next = nodes[node].firstChild
        while let child = next {
            members.append(JSONObject.Member(name: nodes[child].name, value: json(of: child)))
            next = nodes[child].nextSibling
        }
        return switch nodes[node].content {
        case .value(let value): .string(value)
        case .array: .array(members.map(\.value))
        case .nothing, .object: .object(JSONObject(members: members))
        }
    }
}
