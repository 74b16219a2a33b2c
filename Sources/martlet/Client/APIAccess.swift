import ArgumentParser
import PushSupport

/// A server, and the part of its API in which a command works.
struct APIConnection {
    /// The client of the server.
    let client: APIClient
    /// The beginning of all paths after `/v1`, such as `apps` and a bundle id.
    var path: [String] = []
    /// The query item that asks for the next page of a list.
    var cursor = "cursor"

    /// Sends a request whose path begins where the command works.
    /// - Parameter limit: The longest time of the request; `nil` for the usual one.
    func send(_ request: APIRequest, within limit: Duration? = nil) async throws -> JSONValue {
        try await self.client.send(self.absolute(request), within: limit)
    }

    /// Returns the request with its whole path.
    func absolute(_ request: APIRequest) -> APIRequest {
        var request = request
        request.parts = self.path + request.parts
        return request
    }
}

/// The options by which a command reaches a running server, and prints what it responds.
protocol APIAccess: ParsableArguments {
    /// Indicates whether responses are printed as JSON.
    var json: Bool { get }
    /// Returns the server that flags, environment and settings file name.
    /// - Throws: ``SettingsError``, or a validation error that names the missing option.
    func connection() async throws -> APIConnection
}

extension APIAccess {
    /// Prints a response, as JSON or as the text of a closure.
    func print(_ response: JSONValue, _ text: (JSONValue) throws -> String) throws {
        if !self.json {
            try StandardOutput.result(try text(response))
        } else if response != .null {
            try StandardOutput.result(try response.line)
        }
    }

    /// Prints the entries of a list as a table.
    /// - Parameters:
    ///   - name: The member of the response that has the entries.
    ///   - limit: The most entries; `nil` for all.
    func list(_ name: String, _ request: APIRequest, limit: Int?, _ columns: TextTable) async throws {
        let connection = try await self.connection()
        var entries: [JSONValue] = []
        var cursor: String?
        repeat {
            let size = limit.map { "\(min(Self.largestPage, $0 - entries.count))" }
            let response = try await connection.send(request.query([(connection.cursor, cursor), ("limit", size)]))
            entries += response[name].elements
            let next = response["next"].stringValue
            // A server that returns the same cursor again would make the list endless.
            cursor = next == cursor ? nil : next
        } while cursor != nil && entries.count < limit ?? .max
        entries = Array(entries.prefix(limit ?? .max))
        try self.print([name: .array(entries)]) { _ in entries.isEmpty ? "(none)" : columns.text(of: entries) }
        if cursor != nil { StandardError.line("There are more: see them with --limit.") }
    }

    /// The largest page that the APIs return.
    private static var largestPage: Int { 1000 }
}
