import Hummingbird
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The templates of an app: contents with a name and versions.
struct TemplatePages: PageArea {
    private let library = LibraryItemPages(plural: "templates")

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/templates", self.library.list),
            .get("/apps/{app}/templates/new", self.show), .post("/apps/{app}/templates/new", self.save),
            .post("/apps/{app}/templates/preview", self.preview),
            .get("/apps/{app}/templates/{template}", self.show), .post("/apps/{app}/templates/{template}", self.save),
            .post("/apps/{app}/templates/{template}/delete", self.library.delete),
            .post("/apps/{app}/templates/{template}/restore", self.library.restore),
        ]
    }

    private func show(_ request: PageRequest) async throws -> Response {
        guard !self.library.id(request).isEmpty else {
            try request.require(.send)
            return try await self.page(ComposeForm(), request)
        }
        let template = try await request.get(self.library.api(request))
        return try await self.page(ComposeForm(request: template["content"]), request, stored: template)
    }

    private func save(_ request: PageRequest) async throws -> Response {
        var form = ComposeForm(request.form)
        let action = request.form["action"] ?? ""
        if form.change(by: action) || action == "edit" { return try await self.page(form, request) }
        if action == "preview" {
            return try await self.page(form, request, preview: await self.previewed(form, request))
        }
        do {
            return try await self.library.save(["content": .object(try form.contentMembers())], request)
        } catch let error as RequestError {
            return try await self.page(form, request, error: error)
        }
    }

    private func preview(_ request: PageRequest) async throws -> Response {
        request.fragment("push-preview", try await self.previewed(ComposeForm(request.form), request))
    }

    private func previewed(_ form: ComposeForm, _ request: PageRequest) async throws -> PageModel {
        do {
            let body = JSONValue.object(try form.contentMembers())
                .merging(.object(["to": .object(["all": .bool(true)])])).merging(.object(form.previewSubject))
            let response = try await request.call(.post("\(request.api)/notifications:preview", body))
            return PushPreview(response, texts: request.texts, countsRecipients: false).values()
        } catch let error as RequestError {
            return PushPreview(error).values()
        }
    }

    private func page(
        _ form: ComposeForm,
        _ request: PageRequest,
        stored: JSONValue? = nil,
        preview: PageModel? = nil,
        error: RequestError? = nil
    ) async throws -> Response {
        let model = ComposeModel(
            form: form,
            texts: request.texts,
            problems: ["name", "version"].contains(error?.path) ? [:] : ComposeProblems.model(error, form)
        )
        let fields = LabelledFields(
            texts: request.texts,
            area: "library",
            values: [
                "name": stored?["name"].stringValue ?? request.form["name"] ?? "",
                "description": stored?["description"].stringValue ?? request.form["description"] ?? "",
            ],
            problems: error?.path == "name" ? ["name": error?.message ?? ""] : [:]
        )
        let isNew = self.library.id(request).isEmpty
        let version = stored?["version"].integerValue.map { "\($0)" } ?? request.form["version"]
        var values: PageModel = [
            "name": fields.line("name", maximum: 256), "description": fields.line("description", maximum: 1000),
            "content": model.content, "subject": model.preview, "maySend": request.may(.send),
            "action": request.http.uri.path, "previewPath": "\(Dashboard.root)\(request.appPath)/templates/preview",
            "isFilled": !isNew || request.http.method == .post, "itemPath": self.library.page(request),
        ]
        (values["version"], values["itemVersion"], values["preview"]) = (version, version, preview)
        if !isNew {
            let versions = try await self.library.versions(request)
            (values["versions"], values["hasVersions"]) = (versions, !versions.isEmpty)
            let name = FormText.encoded(self.library.id(request))
            values["use"] = "\(Dashboard.root)\(request.appPath)/notifications/new?template=\(name)"
        }
        let title = isNew ? "templates.new" : stored?["name"].stringValue ?? "templates.edit"
        return request.page("template", title: title, values, error: error)
    }
}
