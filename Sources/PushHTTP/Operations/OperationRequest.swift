package import Foundation
package import Hummingbird
package import NIOCore
package import PushSupport

/// A request to an operation, whose caller and query have already been checked.
package struct OperationRequest: Sendable {
    package let http: Request
    package let context: APIContext
    /// The declared query items, with percent-encoding removed. None contains a NUL.
    package let query: [String: String]
    /// The caller, or `nil` if the operation needs none.
    package let caller: APICaller?
    /// The maximum length of the body in bytes, beyond which ``body()`` throws an error.
    let maximumBody: Int
    let requiresBody: Bool
    /// The closure that reads the body, with the given maximum length in bytes.
    let readBody: @Sendable (Request, Int) async throws -> Data
    /// The closure that receives the id of the object that the request has created.
    let recordResource: @Sendable (String) -> Void

    /// Records the id of the object that the request has created, for the audit log. The path does not contain this id.
    package func made(_ id: UUID) { self.recordResource(id.uuidString) }
}

// MARK: Body

extension OperationRequest {
    /// Reads the whole body.
    /// - Throws: ``RequestError`` for a body that is too long. `BudgetRefusal` if the budget of the caller has no room
    ///   for it at present.
    package func body() async throws -> Data { try await self.readBody(self.http, self.maximumBody) }

    /// Returns the members of the JSON body.
    /// - Throws: ``RequestError`` for a body that is not a JSON object, or that has members other than those of
    ///   `object`.
    package func fields(_ object: RequestObject) async throws -> JSONFields {
        let body = try await self.body()
        let json: JSONValue = body.isEmpty && !self.requiresBody ? .object([:]) : try JSONValue(parsing: body)
        return try JSONFields(json, known: object.known)
    }
}

// MARK: Path

extension OperationRequest {
    /// Returns the percent-decoded path component for `{name}`. It is empty if it cannot be decoded or contains a NUL.
    package func path(_ name: String) -> String { self.context.path(name) }

    /// Returns the path component for `{name}` as a UUID, or `nil` if it is not a UUID.
    package func uuid(_ name: String) -> UUID? { UUID(uuidString: self.path(name)) }
}

// MARK: Query

extension OperationRequest {
    /// Returns the query item `name`, converted by `parse`, or `nil` if the item is absent.
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

    /// Returns the query item `name` as an integer, or `nil` if it is absent. Throws ``RequestError`` if it is not in
    /// `range`.
    package func number(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
        try self.value(
            name,
            { Int64($0).flatMap { range.contains($0) ? $0 : nil } },
            orThrow: .invalid(name, "use a number from \(range.lowerBound) to \(range.upperBound)")
        )
    }

    /// Returns the query item `name` as a case of an enumeration, or `nil` if it is absent. Throws ``RequestError`` for
    /// a string that is no raw value.
    package func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ type: Value.Type
    ) throws -> Value? {
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return try self.value(name, Value.init(rawValue:), orThrow: .invalid(name, "use one of \(names)"))
    }

    /// Returns the query item `limit`, the maximum number of entries in a page, or `value` if it is absent.
    package func limit(default value: Int64 = PageSize.standard) throws -> Int {
        Int(try self.number("limit", in: PageSize.range) ?? value)
    }

    /// Returns the query item `cursor`, the position at the end of the previous page, or `nil` for the first page.
    package func cursor(_ list: Cursor.List) throws -> Cursor? {
        try self.query["cursor"].map { try Cursor(text: $0, list: list) }
    }

    package func page(_ list: Cursor.List) throws -> ListPageRequest {
        ListPageRequest(list: list, limit: try self.limit(), after: try self.cursor(list)?.position)
    }
}

/// The context of a request to one of the HTTP APIs.
package struct APIContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    package let channel: any Channel
    /// The caller of a request that is sent within the process, in place of an API key in the header, or `nil` for a
    /// request that arrives on a connection.
    package var caller: APICaller?

    package init(source: ApplicationRequestContextSource) {
        self.coreContext = .init(source: source)
        self.channel = source.channel
    }

    /// Returns the percent-decoded path component for `{name}`. It is empty if it cannot be decoded or contains a NUL,
    /// which would end a text in the store.
    package func path(_ name: String) -> String {
        guard let text = self.parameters.get(name) else { return "" }
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        guard let decoded = text.removingPercentEncoding, !decoded.utf8.contains(0) else { return "" }
        return decoded
    }
}
