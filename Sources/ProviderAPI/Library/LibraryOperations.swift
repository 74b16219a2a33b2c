import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushStore
import PushSupport

/// The operations that are common to named audiences and templates.
struct LibraryOperations {
    let kind: LibraryItem.Kind
    let store: any AppStore & LibraryStore
    /// The budget that makes long lists be encoded one after the other.
    let turns: Budget
    let time: any TimeSource
    var limits = LibraryLimits()

    /// The plural name of the kind in paths and list responses, such as `audiences`.
    private var plural: String { "\(self.kind.rawValue)s" }
    private var title: String { self.kind.rawValue.capitalized }
    /// The list to which the cursors for pages of items and of names belong. Cursors of other lists are rejected.
    private var cursors: Cursor.List { self.kind == .audience ? .audiences : .templates }
    var path: String { "/v1/apps/{app}/\(self.plural)/{\(self.kind.rawValue)}" }

    /// The maximum length of a page, in bytes. An entry of the maximum length may be added to a page that is still
    /// shorter than ``LibraryLimits/pageBytes``.
    private var maximumPage: Int { self.limits.pageBytes + self.limits.bytes }

    /// Returns the description of the path parameter for an item. `what` is the name of the kind, such as `audience`.
    static func parameter(_ what: String) -> OpenAPIDocument<APIScope>.PathParameter {
        ("The id of the \(what), or its name, percent-encoded.", .string(length: 1...LibraryText.maximumName))
    }

    /// Returns the operations of both audiences and templates: list, show, delete, list versions, and restore.
    /// - Parameters:
    ///   - item: The response type for an item.
    ///   - response: The closure that creates the response for an item.
    func operations<Item: ResponseObject>(
        _ item: Item.Type,
        _ response: @escaping @Sendable (LibraryItem, AppRecord) -> Item
    ) -> [ProviderOperation] {
        let (name, plural) = (self.kind.rawValue, self.plural)
        let version = ParameterDescription.query("version", "The version that it must have.", .integer(1...Int64.max))
        return [
            .init(.get, "/v1/apps/{app}/\(plural)", id: "list\(self.title)s", "The app's \(plural), the oldest first.")
            {
                try await self.list($0, response)
            }
            .scope(.read).parameters(.cursor, .limit()).responses(.ok(.page(plural, of: Item.schema)))
            .reservingPage(ofEntries: self.limits.bytes, atMost: self.maximumPage),
            .init(.get, "/v1/apps/{app}/\(plural):names", id: "list\(self.title)Names", self.names)
                .summary("The names of the app's \(plural), without their contents, the oldest first.")
                .scope(.read).parameters(.cursor, .limit())
                .responses(.ok(.page(plural, of: LibraryNameResponse.schema))),
            .init(.get, self.path, id: "show\(self.title)", "One \(name).") { request in
                let (item, app) = try await self.item(request)
                return try .json(response(item, app))
            }
            .scope(.read).responses(.ok(Item.schema)),
            .init(.delete, self.path, .audited, id: "delete\(self.title)", self.delete)
                .summary("Removes the \(name) with its versions, unless a schedule uses it.")
                .scope(.send).parameters(version).responses(.noContent).errors(.conflict),
            .init(.get, "\(self.path)/versions", id: "list\(self.title)Versions", self.versions)
                .summary("The versions of the \(name) that are kept, the newest first.")
                .scope(.read).parameters(.cursor, .limit())
                .responses(.ok(.page("versions", of: LibraryVersionResponse.schema)))
                .reservingPage(ofEntries: self.limits.bytes, atMost: self.maximumPage),
            .init(.post, "\(self.path):restore", .audited, id: "restore\(self.title)") {
                try await self.restore($0, response)
            }
            .summary("Makes an earlier version of the \(name) the newest one again.")
            .scope(.send).body(LibraryItemRequest.restore.schema).responses(.ok(Item.schema)).errors(.conflict),
        ]
    }

    // MARK: Reading

    /// Returns the item whose id or name is in the path, and its app.
    /// - Throws: ``RequestError`` with status 404 if the app or the item does not exist.
    func item(_ request: OperationRequest) async throws -> (LibraryItem, AppRecord) {
        let app = try await request.app(self.store)
        let name = try self.name(request)
        guard let item = try await self.store.libraryItem(name, of: self.kind, app: app.id) else { throw self.missing }
        return (item, app)
    }

    private func name(_ request: OperationRequest) throws -> LibraryItemName {
        let text = request.path(self.kind.rawValue)
        guard (1...LibraryText.maximumName).contains(text.utf8.count) else { throw self.missing }
        return LibraryItemName(text)
    }

    private func list<Item: ResponseObject>(
        _ request: OperationRequest,
        _ response: @Sendable (LibraryItem, AppRecord) -> Item
    ) async throws -> Response {
        let app = try await request.app(self.store)
        let wanted = try request.page(self.cursors)
        let page = try await self.store.libraryItems(
            of: self.kind,
            app: app.id,
            after: wanted.after ?? 0,
            limit: wanted.limit,
            bytes: self.limits.pageBytes
        )
        return try await self.encode(page.bodyBytes, on: request) {
            let entries = page.entries.map { response($0, app) }
            return try .page(self.plural, entries, next: page.next?.cursor(self.cursors, isSorted: false))
        }
    }

    /// Encodes a list of `bytes` bytes with `body`. A long list waits for its turn, because many encodings at the same
    /// time would delay all other requests. A short one does not wait.
    ///
    /// The list was already read from the store, and its turn includes no wait for other resources.
    /// - Throws: `BudgetRefusal`, `BudgetEnded`, and `CancellationError` if the client has disconnected.
    private func encode(
        _ bytes: Int,
        on request: OperationRequest,
        _ body: () throws -> Response
    ) async throws -> Response {
        guard bytes > Budget.uncountedBodyLength else { return try body() }
        let account = QueryCaller.current?.account ?? BudgetCaller()
        let turn = try await request.context.channel.withClientConnected { try await self.turns.wait(for: account) }
        defer { turn.end() }
        return try body()
    }

    private func names(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let page = try request.page(self.cursors)
        let entries = try await self.store.libraryNames(
            of: self.kind,
            app: app.id,
            after: page.after ?? 0,
            limit: page.limit
        )
        let next = page.next(after: entries) { $0.number }
        return try .page(self.plural, entries.map { LibraryNameResponse(entry: $0) }, next: next)
    }

    private func versions(_ request: OperationRequest) async throws -> Response {
        let (item, _) = try await self.item(request)
        let wanted = try request.page(.libraryVersions)
        let page = try await self.store.libraryVersions(
            of: item.id,
            before: wanted.after ?? Int64.max,
            limit: wanted.limit,
            bytes: self.limits.pageBytes
        )
        return try await self.encode(page.bodyBytes, on: request) {
            let entries = page.entries.map { LibraryVersionResponse(version: $0, kind: self.kind) }
            return try .page("versions", entries, next: page.next?.cursor(.libraryVersions, isSorted: false))
        }
    }

    // MARK: Changes

    /// Saves the item that a request body describes.
    /// - Parameters:
    ///   - isNew: `true` to add an item, whose name is in the body and must not exist yet, and `false` if the path
    ///     names the item.
    ///   - objects: The descriptions of the request bodies for adding and for saving an item.
    ///   - member: The name of the member with the item's content.
    ///   - check: A closure that validates the content, which is required, and returns it.
    /// - Returns: The saved item, its app, and whether the request created the item.
    func save(
        _ request: OperationRequest,
        isNew: Bool,
        _ objects: LibraryItemRequest.Objects,
        member: String,
        _ check: (JSONFields, AppRecord) throws -> [String: JSONValue]
    ) async throws -> (item: LibraryItem, app: AppRecord, isNew: Bool) {
        let app = try await request.app(self.store)
        let fields = try await request.fields(isNew ? objects.new : objects.saved)
        let name = try fields.value(LibraryItemRequest.name)
        let item =
            isNew
            ? LibraryItemName.name(BytewiseString(try fields.required(LibraryItemRequest.name)))
            : try self.name(request)
        let body = try check(fields, app)
        guard try JSONValue.object(body).text.count <= self.limits.bytes else {
            throw fields.error(member, "too_large", "it has at most \(self.limits.bytes) bytes")
        }
        var change = LibraryChange(
            isNew ? .add : .save,
            app: app.id,
            kind: self.kind,
            item: item,
            by: request.caller?.reference,
            at: self.time.recorded
        )
        (change.name, change.description, change.body) = (name, try fields.value(LibraryItemRequest.description), body)
        change.expected = try fields.value(LibraryItemRequest.version)
        let result = try await self.store.changeLibrary(change, limits: self.limits)
        guard case .changed(let saved, let isNew) = result else { throw self.error(result) }
        request.made(saved.id)
        return (saved, app, isNew)
    }

    private func restore<Item: ResponseObject>(
        _ request: OperationRequest,
        _ response: @Sendable (LibraryItem, AppRecord) -> Item
    ) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(LibraryItemRequest.restore)
        let version = try fields.required(LibraryItemRequest.restored, "name the version to restore")
        var change = LibraryChange(
            .restore(version: version),
            app: app.id,
            kind: self.kind,
            item: try self.name(request),
            by: request.caller?.reference,
            at: self.time.recorded
        )
        change.expected = try fields.value(LibraryItemRequest.expectedVersion)
        let result = try await self.store.changeLibrary(change, limits: self.limits)
        guard case .changed(let item, _) = result else { throw self.error(result) }
        return try .json(response(item, app))
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let result = try await self.store.deleteLibraryItem(
            try self.name(request),
            of: self.kind,
            app: app.id,
            expected: try request.number("version", in: 1...Int64.max)
        )
        guard result == .deleted else { throw self.error(result) }
        return .noContent
    }

    // MARK: Errors

    private var missing: RequestError { .noSuch(self.kind.rawValue, by: "id or name") }

    /// Returns the error for a change that was not made, such as a conflict with the change of another request.
    private func error(_ result: LibraryChangeResult) -> RequestError {
        let name = self.kind.rawValue
        switch result {
        case .changed, .deleted, .missing: return self.missing
        case .missingVersion: return .noSuch("version", by: "number")
        case .stale(0): return .conflict("changed_meanwhile", "there is no such \(name) any more", at: "version")
        case .stale(let version):
            return .conflict("changed_meanwhile", "it is version \(version) now: read it again", at: "version")
        case .nameTaken: return .conflict("name_taken", "the app has \(name)s of this name already", at: "name")
        case .tooMany:
            return .conflict("too_many_\(name)s", "an app has at most \(self.limits.items) \(name)s: remove some first")
        case .inUse(let schedules):
            let names = schedules.map { "“\($0)”" }.joined(separator: ", ")
            return .conflict("\(name)_in_use", "schedules use it, such as \(names): change these first")
        }
    }
}
