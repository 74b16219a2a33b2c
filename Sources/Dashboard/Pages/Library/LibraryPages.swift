import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The form for an item of ``LibraryPages``. It may have buttons that add and remove sections, such as rows.
protocol LibraryForm: Sendable {
    init()
    init(_ fields: FormData)

    /// Adds or removes a section if the pressed button requests it.
    /// - Returns: `true` for a button that adds or removes a section, and `false` for any other button.
    mutating func change(by action: String) -> Bool
}

/// The pages for an app's named and versioned items, which are named audiences or templates.
protocol LibraryPages: PageArea {
    associatedtype Form: LibraryForm
    associatedtype Item: LibraryResponse

    var library: LibraryItemPages<Item> { get }
    var previewTemplate: String { get }

    func form(of body: JSONValue) -> Form

    /// Returns the content that the form describes, as API members without the name, the description and the version.
    /// - Throws: ``RequestError`` for a field that cannot be parsed.
    func members(of form: Form) throws(RequestError) -> [String: JSONValue?]

    func previewed(_ form: Form, _ request: PageRequest) async throws -> PageModel

    /// Returns the template variables that only the pages of this kind of item need.
    /// - Parameter error: The error of the API, or `nil` if there is none or it concerns the name, the description or
    ///   the version.
    func values(of form: Form, _ request: PageRequest, error: RequestError?) -> PageModel

    /// Returns the query with which the compose page starts a new notification that uses the item.
    func use(_ request: PageRequest, name: String) -> KeyValuePairs<String, String?>
}

extension LibraryPages {
    var routes: [PageRoute] {
        let items = "/apps/{app}/\(self.library.plural)"
        let item = "\(items)/{\(self.library.singular)}"
        return [
            .get(items, self.library.list), .get("\(items)/new", self.show), .post("\(items)/new", self.save),
            .post("\(items)/preview", self.preview), .get(item, self.show), .post(item, self.save),
            .post("\(item)/delete", self.library.delete), .post("\(item)/restore", self.library.restore),
        ]
    }

    private func show(_ request: PageRequest) async throws -> Response {
        guard !self.library.id(request).isEmpty else {
            try await self.library.checkNew(request)
            return try await self.page(Form(), request)
        }
        let item = try await request.get(self.library.api(request), as: Item.self).record
        return try await self.page(self.form(of: .object(item.body)), request, stored: item)
    }

    private func save(_ request: PageRequest) async throws -> Response {
        var form = Form(request.form)
        let action = request.form["action"] ?? ""
        if form.change(by: action) || action == "edit" { return try await self.page(form, request) }
        if action == "preview" {
            return try await self.page(form, request, preview: await self.previewed(form, request))
        }
        do {
            return try await self.library.save(try self.members(of: form), request)
        } catch let error as RequestError {
            return try await self.page(form, request, error: error)
        }
    }

    private func preview(_ request: PageRequest) async throws -> Response {
        request.fragment(self.previewTemplate, try await self.previewed(Form(request.form), request))
    }

    private func page(
        _ form: Form,
        _ request: PageRequest,
        stored: LibraryItem? = nil,
        preview: PageModel? = nil,
        error: RequestError? = nil
    ) async throws -> Response {
        let isNew = self.library.id(request).isEmpty
        let isOfItem = ["name", "description", "version"].contains(error?.path ?? "")
        let version = stored.map { "\($0.version)" } ?? request.form["version"]
        let name = stored?.name ?? request.form["name"] ?? ""
        var values = self.values(of: form, request, error: isOfItem ? nil : error)
        values.merge(self.library.fields(request, stored: stored, error: error)) { $1 }
        values.merge([
            "maySend": request.may(.send), "action": request.http.uri.path,
            "previewPath": "\(Dashboard.root)\(request.appPath)/\(self.library.plural)/preview",
            "isFilled": !isNew || request.http.method == .post, "itemPath": self.library.page(request),
        ]) { $1 }
        (values["version"], values["itemVersion"], values["preview"]) = (version, version, preview)
        if !isNew {
            let versions = try await self.library.versions(request)
            (values["versions"], values["hasVersions"]) = (versions, !versions.isEmpty)
            let query = URLText.query(self.use(request, name: name))
            values["use"] = "\(Dashboard.root)\(request.appPath)/notifications/new\(query)"
        }
        let plural = self.library.plural
        let title = isNew ? "\(plural).new" : stored?.name ?? "\(plural).edit"
        return request.page(self.library.singular, title: title, values, error: error)
    }
}

extension ComposeForm: LibraryForm {}
