package import Foundation
package import Hummingbird
package import PushSupport

/// A request to an operation, after its caller and its query have been checked.
package struct OperationRequest: Sendable {
    package let http: Request
    package let context: APIContext
    /// The declared query items, percent-decoded. None has a NUL.
    package let query: [String: String]
    /// The maker of the request; `nil` where the operation needs none.
    package let caller: APICaller?
    /// The longest body, in bytes.
    let maximumBody: Int
    /// See ``BodyDescription/isRequired``.
    let requiresBody: Bool
    /// Reads the body, up to a maximum in bytes.
    let readBody: @Sendable (Request, Int) async throws -> Data
    /// Receives the id of what the request made.
    let recordResource: @Sendable (String) -> Void

    /// Notes the id of what the request made, which its path does not hold, for the audit.
    package func made(_ id: UUID) { self.recordResource(id.uuidString) }
}

// MARK: Body

extension OperationRequest {
    /// Reads the whole body.
    ///
    /// - Throws: ``RequestError`` for a body that is too long, `BudgetRefusal` for one that its caller may not send now.
    package func body() async throws -> Data { try await self.readBody(self.http, self.maximumBody) }

    /// Reads the members of the body.
    ///
    /// - Throws: ``RequestError`` for a body that is not a JSON object, or has other members than `known`.
    package func fields(_ known: Set<String>) async throws -> JSONFields {
        try JSONFields(parsing: try await self.body(), known: known)
    }

    /// Reads the members of the body.
    ///
    /// - Throws: ``RequestError`` for a body that is not a JSON object, or has other members than `object`.
    package func fields(_ object: RequestObject) async throws -> JSONFields {
        let body = try await self.body()
        let json: JSONValue = body.isEmpty && !self.requiresBody ? .object([:]) : try JSONValue(parsing: body)
        return try JSONFields(json, known: object.known)
    }

    /// Decodes the body. Unknown members are ignored.
    package func decode<Body: Decodable>(_ type: Body.Type) async throws -> Body {
        try RequestError.decode(type, from: try await self.body())
    }
}

// MARK: Path

extension OperationRequest {
    /// Returns the percent-decoded path component for `{name}`; empty if it cannot be decoded or has a NUL.
    package func path(_ name: String) -> String { self.context.path(name) }

    /// Returns the path component for `{name}` as a UUID.
    package func uuid(_ name: String) -> UUID? { UUID(uuidString: self.path(name)) }
}

// MARK: Query

extension OperationRequest {
    /// Returns the query item `name`, converted by `parse`; `nil` if it is absent.
    ///
    /// - Throws: `error` if `parse` returns `nil`.
    package func value<Value>(
        _ name: String,
        _ parse: (String) -> Value?,
        orThrow error: @autoclosure () -> RequestError
    ) throws -> Value? {
        guard let text = self.query[name] else { return nil }
        guard let value = parse(text) else { throw error() }
        return value
    }

    /// Returns the query item `name` as an integer; `nil` if it is absent.
    package func number(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
        try self.value(
            name,
            { Int64($0).flatMap { range.contains($0) ? $0 : nil } },
            orThrow: .invalid(name, "use a number from \(range.lowerBound) to \(range.upperBound)")
        )
    }

    /// Returns the query item `name` as a case of an enumeration; `nil` if it is absent.
    package func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ type: Value.Type
    ) throws -> Value? {
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return try self.value(name, Value.init(rawValue:), orThrow: .invalid(name, "use one of \(names)"))
    }

    /// Returns the entries that a page of a list may have.
    package func limit(default value: Int64 = PageSize.standard) throws -> Int {
        Int(try self.number("limit", in: PageSize.range) ?? value)
    }

    /// Returns the end of the page before; `nil` at the beginning of the list.
    package func cursor(_ list: Cursor.List) throws -> Cursor? {
        try self.query["cursor"].map { try Cursor(text: $0, list: list) }
    }

    /// Returns the part of a list that the request asks for.
    package func page(_ list: Cursor.List) throws -> ListPageRequest {
        ListPageRequest(list: list, limit: try self.limit(), after: try self.cursor(list)?.position)
    }
}
