import ArgumentParser
import Foundation
import PushSupport

/// The options of every command that manages a running gateway, and its way there.
struct AdminOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(help: "The gateway's admin door (gateway.adminURL; default: http://127.0.0.1:2198).")
    var adminURL: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// The way to the admin door.
    func call() async throws -> HTTPCall {
        let settings = try await self.common.settings(["gateway.adminURL": self.adminURL.setting()])
        let url = settings.string("gateway.adminURL", default: "http://127.0.0.1:2198")
        try settings.check()
        return HTTPCall(baseURL: url)
    }

    /// The answer to a request; `null` for one without a body.
    func answer(_ request: APIRequest) async throws -> JSONValue {
        let data = try await self.call().data(request.method, request.path, body: try request.body?.text)
        return data.isEmpty ? .null : try JSONValue(parsing: data)
    }

    /// Performs a request and prints its answer, as JSON or in words.
    func show(_ request: APIRequest, _ words: (JSONValue) throws -> String) async throws {
        let answer = try await self.answer(request)
        if !self.json {
            StandardOutput.line(try words(answer))
        } else if answer != .null {
            StandardOutput.line(try answer.line)
        }
    }

    /// Prints a list, all pages of it, as a table.
    /// - Parameter limit: most entries; `nil` for all.
    func list(
        _ name: String,
        _ path: [String],
        query: [(String, String?)] = [],
        limit: Int? = nil,
        _ columns: [TextTable.Column]
    ) async throws {
        var entries: [JSONValue] = []
        var after: String?
        repeat {
            let rest = limit.map { "\(min(1000, $0 - entries.count))" }
            let items = query + [("after", after), ("limit", rest)]
            let answer = try await self.answer(APIRequest(.get, path, query: items))
            entries += answer[name].elements
            after = answer["next"].stringValue
        } while after != nil && entries.count < limit ?? .max
        if self.json {
            StandardOutput.line(try JSONValue.object([name: .array(entries)]).line)
        } else {
            StandardOutput.line(entries.isEmpty ? "(none)" : TextTable(columns, entries).text)
        }
    }
}
