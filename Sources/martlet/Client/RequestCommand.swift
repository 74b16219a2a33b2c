import ArgumentParser
import PushSupport

/// A command that sends one request and prints the response.
protocol RequestCommand: AsyncParsableCommand {
    associatedtype Access: APIAccess
    /// The options by which the command reaches the server.
    var access: Access { get }
    /// The request; an error here is one of the arguments.
    func request() throws -> APIRequest
    /// Returns what people see of the response.
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
    /// The columns of the table.
    static var columns: TextTable { get }
    /// The member of the response that has the entries; by default it has the name of the path's last part.
    static var member: String? { get }
    /// The request for the first page.
    func request() -> APIRequest
    /// The most entries that are shown; `nil` for all.
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

/// A command that prints the first entries of a list that comes in pages.
protocol PagedListCommand: ListCommand {
    /// The option that bounds the list.
    var shown: LimitOption { get }
}

extension PagedListCommand {
    var limit: Int? { self.shown.limit }
}

/// The option that bounds a list.
struct LimitOption: ListFilter {
    @Option(help: "The maximum number of entries to show.") var limit: Int = 100

    var query: [(String, String?)] { [] }
    var maximum: Int? { self.limit }

    func validate() throws {
        guard self.limit > 0 else { throw ValidationError("--limit is at least 1.") }
    }
}
