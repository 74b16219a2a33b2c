/// The effect of an operation on the server, and the trace that it leaves in the audit.
package enum OperationEffect: Sendable {
    /// The operation changes nothing, whatever its method.
    case readOnly
    /// The operation changes something, and each request has an audit entry.
    case audited
    /// The operation changes something, and no request has an audit entry of its own.
    ///
    /// Devices and back ends call it too often for that: equal changes of a key share an entry. Or the API has no callers to
    /// tell apart.
    case unaudited
}

/// The work that a response takes.
package enum OperationCost: Sendable {
    case small
    /// A query that may visit every row. It is cancelled when its client closes the connection, or its half of it.
    case query
}

/// A section of the OpenAPI document.
package struct OperationTag: Hashable, Sendable {
    package let name: String

    package init(_ name: String) {
        self.name = name
    }
}

/// A group of operations that share what they need.
package protocol Controller<Scope>: Sendable {
    associatedtype Scope: Hashable & Sendable

    var operations: [APIOperation<Scope>] { get }
}
