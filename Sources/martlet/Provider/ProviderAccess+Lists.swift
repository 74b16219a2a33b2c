import PushSupport

extension ProviderAccess {
    /// Largest page that the API gives.
    private static let page = 1000

    /// Prints a list that is answered as a whole, as a table.
    func list(
        _ name: String,
        _ request: APIRequest,
        with settings: Settings? = nil,
        _ columns: [TextTable.Column]
    ) async throws {
        self.show(name, try await self.answer(request, with: settings)[name].elements, columns)
    }

    /// Prints the first entries of a list that is answered in pages, as a table; says if there are more.
    func list(
        _ name: String,
        _ path: [String],
        query: [(String, String?)] = [],
        limit: Int,
        with settings: Settings? = nil,
        _ columns: [TextTable.Column]
    ) async throws {
        let (entries, hasMore) = try await self.entries(name, path, query: query, limit: limit, with: settings)
        self.show(name, entries, columns)
        if hasMore { StandardError.line("There are more: see them with --limit.") }
    }

    private func entries(
        _ name: String,
        _ path: [String],
        query: [(String, String?)],
        limit: Int,
        with settings: Settings?
    ) async throws -> ([JSONValue], hasMore: Bool) {
        let call: HTTPCall
        if let settings { call = try self.call(settings) } else { call = try self.call(try await self.settings()) }
        var entries: [JSONValue] = []
        var cursor: String?
        repeat {
            let size = min(Self.page, limit - entries.count)
            let request = APIRequest(.get, path, query: query + [("cursor", cursor), ("limit", "\(size)")])
            let answer = try await Self.answer(request, from: call)
            entries += answer[name].elements
            let next = answer["next"].stringValue
            // The same place again would never end.
            cursor = next == cursor ? nil : next
        } while cursor != nil && entries.count < limit
        return (Array(entries.prefix(limit)), cursor != nil)
    }

    /// Prints entries that are there already.
    func show(_ name: String, _ entries: [JSONValue], _ columns: [TextTable.Column]) {
        if self.json, let line = try? JSONValue.object([name: .array(entries)]).line {
            StandardOutput.line(line)
        } else {
            StandardOutput.line(entries.isEmpty ? "(none)" : TextTable(columns, entries).text)
        }
    }
}
