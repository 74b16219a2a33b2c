import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The functions that the pages of named audiences and of templates share, which list, save, remove and restore items.
struct LibraryItemPages<Item: LibraryResponse>: Sendable {
    /// The name of the items in paths and in localized texts, which is `audiences` or `templates`.
    let plural: String
    private static var count: Int { 50 }
    /// The maximum length of an item's summary in the list, in characters. A longer one is truncated.
    private static var longestSummary: Int { 200 }

    /// The name of the path parameter for an item and of the template for its page, which is `audience` or `template`.
    var singular: String { String(self.plural.dropLast()) }

    func id(_ request: PageRequest) -> String { request.parameter(self.singular) }

    func api(_ request: PageRequest) -> String { "\(request.api)/\(self.plural)/\(URLText.encoded(self.id(request)))" }

    func page(_ request: PageRequest) -> String {
        "\(Dashboard.root)\(request.appPath)/\(self.plural)/\(URLText.encoded(self.id(request)))"
    }

    /// Checks that the caller may add an item to the app.
    /// - Throws: ``RequestError`` if the caller lacks the scope or may not use the app, or if the app does not exist.
    func checkNew(_ request: PageRequest) async throws {
        try request.require(.send)
        _ = try await request.get(request.api, as: AppResponse.self)
    }

    func list(_ request: PageRequest) async throws -> Response {
        let query = URLText.query(["cursor": request.query("cursor"), "limit": "\(Self.count)"])
        let list = try await request.list("\(request.api)/\(self.plural)\(query)", of: Item.self)
        let path = "\(Dashboard.root)\(request.appPath)/\(self.plural)"
        var model: PageModel = ["path": path, "maySend": request.may(.send)]
        model["rows"] = list.entries.map { item -> PageModel in
            var row = PageValue.members(item)
            row["path"] = "\(path)/\(item.record.id)"
            let summary = self.summary(.object(item.record.body))
            let isLong = summary.count > Self.longestSummary
            row["summary"] = isLong ? "\(summary.prefix(Self.longestSummary))…" : summary
            row["by"] = item.record.changedBy?.name ?? ""
            return row
        }
        model["hasRows"] = !list.entries.isEmpty
        for name in ["title", "new", "empty", "command", "content"] {
            model["\(name)Text"] = request.texts["\(self.plural).\(name)", ["app": request.parameter("app")]]
        }
        model["pager"] = request.pager(list.next, path: "\(request.appPath)/\(self.plural)")
        return request.page("library", title: "\(self.plural).title", model)
    }

    /// Returns a one-line summary of an item, which is the audience, or the strings of a template.
    private func summary(_ body: JSONValue) -> String {
        guard self.plural == "templates" else { return body.line }
        let alert = body["alert"]
        let texts = [alert.stringValue, alert["title"].stringValue, alert["body"].stringValue].compactMap(\.self)
        return texts.isEmpty ? body.line : texts.joined(separator: " · ")
    }

    /// Stores a new item, or a new version of the item that the path names.
    /// - Parameter members: The content of the item as API members. The name, the description and the expected version
    ///   in the form are added.
    /// - Returns: The redirect to the page of the item.
    func save(_ members: [String: JSONValue?], _ request: PageRequest) async throws -> Response {
        var members = members
        members["description"] = .string(request.form["description"] ?? "")
        members["version"] = request.form["version"].flatMap { Int64($0) }.map(JSONValue.integer)
        if let name = request.form["name"], !name.isEmpty { members["name"] = .string(name) }
        let body = JSONValue.members(members)
        let isNew = self.id(request).isEmpty
        let call = isNew ? LocalAPIRequest.post("\(request.api)/\(self.plural)", body) : .put(self.api(request), body)
        let saved = try await request.call(call, as: Item.self).record
        return request.redirect(to: "\(request.appPath)/\(self.plural)/\(saved.id)", done: "saved")
    }

    func delete(_ request: PageRequest) async throws -> Response {
        let version = request.form["version"].flatMap { Int64($0) }
        let query = URLText.query(["version": version.map { "\($0)" }])
        _ = try await request.call(.delete("\(self.api(request))\(query)"))
        return request.redirect(to: "\(request.appPath)/\(self.plural)", done: "removed")
    }

    func restore(_ request: PageRequest) async throws -> Response {
        let version = request.form["version"].flatMap { Int64($0) } ?? 0
        let expected = request.form["itemVersion"].flatMap { Int64($0) }
        let body = JSONValue.members([
            "version": .integer(version), "expectedVersion": expected.map(JSONValue.integer),
        ])
        _ = try await request.call(.post("\(self.api(request)):restore", body))
        let item = URLText.encoded(self.id(request))
        return request.redirect(to: "\(request.appPath)/\(self.plural)/\(item)", done: "restored")
    }

    /// Returns the fields for the name and the description of an item.
    /// - Parameter stored: The stored item, or `nil` for a new item and for a form that was posted.
    func fields(_ request: PageRequest, stored: LibraryItem?, error: RequestError?) -> PageModel {
        let values = [
            "name": stored?.name ?? request.form["name"] ?? "",
            "description": stored?.description ?? request.form["description"] ?? "",
        ]
        var problems: [String: String] = [:]
        if let error, let path = error.path { problems[path] = error.message }
        let make = LabelledFields(texts: request.texts, area: "library", values: values, problems: problems)
        return [
            "name": make.line("name", of: AudienceRequest.named.saved["name"]),
            "description": make.line("description", of: AudienceRequest.named.saved["description"]),
        ]
    }

    func versions(_ request: PageRequest) async throws -> [PageModel] {
        let list = try await request.list("\(self.api(request))/versions?limit=20", of: LibraryVersionResponse.self)
        return list.entries.enumerated().map { index, response in
            let version = response.version
            var row = PageValue.members(response)
            row["number"] = "\(version.version)"
            row["byName"] = version.by?.name ?? ""
            row["summary"] = self.summary(.object(version.body))
            row["isEarlier"] = index > 0
            return row
        }
    }
}
