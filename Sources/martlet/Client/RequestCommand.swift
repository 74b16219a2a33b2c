import ArgumentParser
import PushSupport

/// A command that sends one request and prints the response.
protocol RequestCommand: AsyncParsableCommand {
    associatedtype Access: APIAccess
    var access: Access { get }
    /// Creates the request to send.
    /// - Throws: An error that names an invalid argument.
    func request() throws -> APIRequest
    /// Returns the response as human-readable text, which is printed unless JSON was requested.
    func text(of response: JSONValue) throws -> String
}

extension RequestCommand {
    mutating func run() async throws {
        let request = try self.request()
        let response = try await self.access.connection().send(request)
        try self.access.print(response, self.text)
    }
}

/// A command that prints the entries of a list.
protocol ListCommand: AsyncParsableCommand {
    associatedtype Access: APIAccess
    var access: Access { get }
    static var columns: TextTable { get }
    /// The member of the response that contains the entries, or `nil` if its name is the last component of the path.
    static var member: String? { get }
    func request() -> APIRequest
    /// The maximum number of entries to print, or `nil` for all.
    var limit: Int? { get }
}

extension ListCommand {
    static var member: String? { nil }
    var limit: Int? { nil }

    mutating func run() async throws {
        let request = self.request()
        let member = Self.member ?? request.parts.last ?? ""
        try await self.access.list(member, request, limit: self.limit, Self.columns)
    }
}

/// A command that prints the first entries of a list that is read in pages.
protocol PagedListCommand: ListCommand {
    var shown: LimitOption { get }
}

extension PagedListCommand {
    var limit: Int? { self.shown.limit }
}

/// The option for the maximum number of entries of a list.
struct LimitOption: ListFilter {
    @Option(help: "The maximum number of entries to show.") var limit: Int = 100

    var query: [(String, String?)] { [] }
    var maximum: Int? { self.limit }

    func validate() throws {
        guard self.limit > 0 else { throw ValidationError("--limit is at least 1.") }
    }
}

/// A connection to a server's API, for requests whose paths all begin with the same components.
struct APIConnection {
    let client: APIClient
    /// The components that follow `/v1` in all paths, such as `apps` and a bundle id.
    var path: [String] = []
    /// The name of the query item that requests the next page of a list.
    var cursor = "cursor"

    /// Sends a request whose path is below ``path``.
    /// - Parameter limit: The time limit of the exchange, or `nil` for that of the client.
    func send(_ request: APIRequest, within limit: Duration? = nil) async throws -> JSONValue {
        try await self.client.send(self.absolute(request), within: limit)
    }

    /// Returns the request with ``path`` in front of its own path.
    func absolute(_ request: APIRequest) -> APIRequest {
        var request = request
        request.parts = self.path + request.parts
        return request
    }
}

/// The options that determine how a command connects to a running server and prints its responses.
protocol APIAccess: ParsableArguments {
    /// A Boolean value that indicates whether responses are printed as JSON instead of text.
    var json: Bool { get }
    /// Returns the connection to the server that flags, environment variables or the settings file specify.
    /// - Throws: ``SettingsError``, or a validation error that names the missing option, if one is missing.
    func connection() async throws -> APIConnection
}

extension APIAccess {
    /// Prints a response as JSON if that was requested, except for `null`, or otherwise as the text that a closure
    /// returns.
    func print(_ response: JSONValue, _ text: (JSONValue) throws -> String) throws {
        if !self.json {
            try StandardOutput.result(try text(response))
        } else if response != .null {
            try StandardOutput.result(try response.line)
        }
    }

    /// Prints the entries of a list as a table.
    /// - Parameters:
    ///   - name: The member of the response that contains the entries.
    ///   - limit: The maximum number of entries, or `nil` for all.
    ///   - columns: The columns of the table, for output that is not JSON.
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

    private static var largestPage: Int { 1000 }
}
