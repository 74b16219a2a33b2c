import Hummingbird
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The named audiences of an app: conditions in rows, the number of devices, and some of these.
struct AudiencePages: PageArea {
    /// The devices that are shown.
    private static let sample = 5
    private let library = LibraryItemPages(plural: "audiences")

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/audiences", self.library.list),
            .get("/apps/{app}/audiences/new", self.show), .post("/apps/{app}/audiences/new", self.save),
            .post("/apps/{app}/audiences/preview", self.preview),
            .get("/apps/{app}/audiences/{audience}", self.show), .post("/apps/{app}/audiences/{audience}", self.save),
            .post("/apps/{app}/audiences/{audience}/delete", self.library.delete),
            .post("/apps/{app}/audiences/{audience}/restore", self.library.restore),
        ]
    }

    private func show(_ request: PageRequest) async throws -> Response {
        guard !self.library.id(request).isEmpty else {
            try request.require(.send)
            return try await self.page(AudienceForm(), request)
        }
        let audience = try await request.get(self.library.api(request))
        return try await self.page(AudienceForm(audience["audience"]), request, stored: audience)
    }

    private func save(_ request: PageRequest) async throws -> Response {
        var form = AudienceForm(request.form)
        let action = request.form["action"] ?? ""
        if form.change(by: action) || action == "edit" { return try await self.page(form, request) }
        if action == "preview" {
            return try await self.page(form, request, preview: await self.previewed(form, request))
        }
        do {
            return try await self.library.save(["audience": try form.expression()], request)
        } catch let error as RequestError {
            return try await self.page(form, request, error: error)
        }
    }

    private func preview(_ request: PageRequest) async throws -> Response {
        request.fragment("audience-preview", try await self.previewed(AudienceForm(request.form), request))
    }

    /// Returns the number of devices and some of them; errors are a part of it.
    private func previewed(_ form: AudienceForm, _ request: PageRequest) async throws -> PageModel {
        do {
            guard let expression = try form.expression() else { return ["isEmpty": true] }
            let body = JSONValue.object(["audience": expression, "limit": .integer(Int64(Self.sample))])
            let response = try await request.call(.post("\(request.api)/audience:preview", body))
            var model: PageModel = ["json": expression.indented]
            model["result"] = ["count": PageValue.of(response["count"]) ?? ""] as PageModel
            model["devices"] = response["devices"].elements.map { device -> PageModel in
                var row = PageValue.of(device) as? PageModel ?? [:]
                let state = device["state"].stringValue ?? ""
                row["stateText"] = request.texts["audiences.states.\(state)"]
                row["stateKind"] = state == "active" ? "good" : "wait"
                return row
            }
            model["hasDevices"] = !response["devices"].elements.isEmpty
            return model
        } catch let error as RequestError {
            return ["error": ["message": error.message, "field": error.path ?? ""] as PageModel]
        }
    }

    // MARK: The page

    private func page(
        _ form: AudienceForm,
        _ request: PageRequest,
        stored: JSONValue? = nil,
        preview: PageModel? = nil,
        error: RequestError? = nil
    ) async throws -> Response {
        let isNew = self.library.id(request).isEmpty
        let version = stored?["version"].integerValue.map { "\($0)" } ?? request.form["version"]
        var values: PageModel = [
            "maySend": request.may(.send), "action": request.http.uri.path, "rows": self.rows(form, request),
            "previewPath": "\(Dashboard.root)\(request.appPath)/audiences/preview",
            "isFilled": !isNew || request.http.method == .post, "itemPath": self.library.page(request),
        ]
        values.merge(self.fields(form, request, stored: stored, error: error)) { $1 }
        (values["version"], values["itemVersion"], values["preview"]) = (version, version, preview)
        if !isNew {
            let versions = try await self.library.versions(request)
            (values["versions"], values["hasVersions"]) = (versions, !versions.isEmpty)
            let name = stored?["name"].stringValue ?? request.form["name"] ?? ""
            values["use"] = "\(Dashboard.root)\(request.appPath)/notifications/new?named=\(FormText.encoded(name))"
        }
        let title = isNew ? "audiences.new" : stored?["name"].stringValue ?? "audiences.edit"
        return request.page("audience", title: title, values, error: error)
    }

    private func fields(
        _ form: AudienceForm,
        _ request: PageRequest,
        stored: JSONValue?,
        error: RequestError?
    ) -> PageModel {
        let values = [
            "name": stored?["name"].stringValue ?? request.form["name"] ?? "",
            "description": stored?["description"].stringValue ?? request.form["description"] ?? "",
            "match": form.isAny ? "any" : "all", "json": form.json,
        ]
        var problems: [String: String] = [:]
        if let error, let path = error.path {
            problems[["name", "description"].contains(path) ? path : "json"] = error.message
        }
        let item = LabelledFields(texts: request.texts, area: "library", values: values, problems: problems)
        let make = LabelledFields(texts: request.texts, area: "audiences", values: values, problems: problems)
        return [
            "name": item.line("name", maximum: 256), "description": item.line("description", maximum: 1000),
            "match": make.radio("match", ["all", "any"]), "json": make.area("json", isCode: true),
            "opensJSON": !form.json.isEmpty || problems["json"] != nil,
        ]
    }

    private func rows(_ form: AudienceForm, _ request: PageRequest) -> [PageModel] {
        form.rows.enumerated().map { index, row in
            let values = [
                "kind\(index)": row.kind, "attribute\(index)": row.name, "operator\(index)": row.comparison,
                "value\(index)": row.value,
            ]
            let make = LabelledFields(texts: request.texts, area: "audiences", values: values, problems: [:])
            return [
                "index": "\(index)", "kind": make.select("kind", AudienceForm.kinds, name: "kind\(index)"),
                "attribute": make.line("attribute", name: "attribute\(index)"),
                "operator": make.select("operator", AudienceForm.comparisons, name: "operator\(index)"),
                "value": make.line("value", name: "value\(index)"),
            ]
        }
    }
}
