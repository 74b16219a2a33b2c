import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// One request to an operation, whose key and query have been checked.
struct OperationRequest: Sendable {
    let request: Request
    let context: APIContext
    let query: [String: String]
    /// Longest body, in bytes.
    let maximumBody: Int
    /// Returns the time for which a body of so many bytes waits before it is read.
    let delay: @Sendable (Int) throws -> Duration

    /// What stands in the path for `{name}`, percent-decoded; empty if it cannot be decoded.
    func path(_ name: String) -> String {
        self.context.parameters.get(name)?.removingPercentEncoding ?? ""
    }

    func body() async throws -> Data {
        let body = try await self.request.wholeBody(maximum: self.maximumBody)
        let delay = try self.delay(body.count)
        if delay > .zero { try await Task.sleep(for: delay, clock: .continuous) }
        return body
    }

    /// - Throws: ``RequestError`` for a body that is no JSON object, or has other members.
    func fields(_ known: Set<String>) async throws -> JSONFields {
        try JSONFields(parsing: try await self.body(), known: known)
    }

    /// As ``fields(_:)``; an empty body is an empty object.
    func optionalFields(_ known: Set<String>) async throws -> JSONFields {
        let body = try await self.body()
        return try JSONFields(parsing: body.isEmpty ? Data("{}".utf8) : body, known: known)
    }

    func limit(default value: Int64 = 100) throws -> Int {
        Int(try self.number("limit", in: 1...1000) ?? value)
    }

    /// The query item `name`.
    func number(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
        guard let text = self.query[name] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw RequestError.invalid(name, "use a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The query item `name`, one of few words.
    func choice<Value: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Value.Type) throws -> Value? {
        guard let text = self.query[name] else { return nil }
        guard let value = Value(rawValue: text) else {
            throw RequestError.invalid(name, "use one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// Where the answer before ended; `nil` at the beginning.
    func cursor(_ list: Cursor.List) throws -> Int64? {
        try self.whole(list)?.position
    }

    /// The same for an answer with two lists.
    func whole(_ list: Cursor.List) throws -> Cursor? {
        try self.query["cursor"].map { try Cursor(text: $0, list: list) }
    }

    /// The query item `environment`.
    func environment() throws -> PushEnvironment? {
        guard let text = self.query["environment"] else { return nil }
        guard let environment = PushEnvironment(named: text) else { throw RequestError.invalidEnvironment() }
        return environment
    }

    /// The query item `token`.
    func queryToken() throws -> DeviceToken? {
        guard let text = self.query["token"] else { return nil }
        guard let token = DeviceToken(hex: text) else { throw RequestError.invalidToken }
        return token
    }
}

extension OperationRequest {
    /// The app whose bundle id stands in the path.
    func app(_ store: any AppStore) async throws -> AppRecord {
        guard let bundleID = Topic(self.path("app")), let app = try await store.app(bundleID: bundleID) else {
            throw RequestError.noSuch("app", "app", "bundle id")
        }
        return app
    }

    func pathEnvironment() throws -> PushEnvironment {
        guard let environment = PushEnvironment(named: self.path("environment")) else {
            throw RequestError.invalidEnvironment(.notFound)
        }
        return environment
    }

    func pathToken() throws -> DeviceToken {
        guard let token = DeviceToken(hex: self.path("token")) else { throw RequestError.invalidToken }
        return token
    }

    /// The user whose id stands in the path.
    func user() throws -> String {
        let user = self.path("user")
        guard (1...DeviceRequest.maximumText).contains(user.utf8.count) else {
            throw RequestError.invalid("user", "a user id has 1 to \(DeviceRequest.maximumText) bytes")
        }
        return user
    }

    func uuid(_ name: String) -> UUID? { UUID(uuidString: self.path(name)) }
}

extension RequestError {
    static func invalid(_ field: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: "invalid_value", message: message, path: field)
    }

    static func noSuch(_ thing: String, _ field: String, _ by: String = "id") -> RequestError {
        RequestError(
            .notFound,
            code: "no_such_\(thing)",
            message: "there is no \(thing) with this \(by)",
            path: field
        )
    }

    static func invalidEnvironment(_ kind: Kind = .invalid) -> RequestError {
        RequestError(
            kind,
            code: "invalid_environment",
            message: "use sandbox or production",
            path: "environment"
        )
    }

    static var invalidToken: RequestError {
        RequestError(.invalid, code: "invalid_token", message: "a device token is hexadecimal here", path: "token")
    }
}
