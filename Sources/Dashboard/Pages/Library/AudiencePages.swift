import ProviderAPI
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The named audiences of an app: conditions in rows, the number of devices, and some of these.
struct AudiencePages: LibraryPages {
    /// The devices that are shown.
    private static let sample = 5
    let library = LibraryItemPages<NamedAudienceResponse>(plural: "audiences")
    let previewTemplate = "audience-preview"
    var menuEntry: MenuEntry? { MenuEntry(.app, "audiences") }

    func form(of body: JSONValue) -> AudienceForm { AudienceForm(body) }

    func members(of form: AudienceForm) throws(RequestError) -> [String: JSONValue?] {
        ["audience": try form.expression()]
    }

    /// Returns the number of devices and some of them; errors are a part of it.
    func previewed(_ form: AudienceForm, _ request: PageRequest) async throws -> PageModel {
        do {
            guard let expression = try form.expression() else { return ["isEmpty": true] }
            let body = JSONValue.object(["audience": expression, "limit": .integer(Int64(Self.sample))])
            let call = LocalAPIRequest.post("\(request.api)/audience:preview", body)
            let response = try await request.call(call, as: AudiencePreviewResponse.self)
            var model: PageModel = ["json": expression.indented]
            model["result"] = ["count": PageNumber(value: Double(response.count))] as PageModel
            model["devices"] = response.devices.map { device -> PageModel in
                var row = PageValue.members(device)
                row["stateText"] = request.texts["audiences.states.\(device.state)"]
                row["stateKind"] = device.device.isActive ? "good" : "wait"
                return row
            }
            model["hasDevices"] = !response.devices.isEmpty
            return model
        } catch let error as RequestError {
            return ["error": ["message": error.message, "field": error.path ?? ""] as PageModel]
        }
    }

    func values(of form: AudienceForm, _ request: PageRequest, error: RequestError?) -> PageModel {
        let make = LabelledFields(
            texts: request.texts,
            area: "audiences",
            values: ["match": form.isAny ? "any" : "all", "json": form.json],
            problems: error?.path == nil ? [:] : ["json": error?.message ?? ""]
        )
        return [
            "rows": self.rows(form, request), "match": make.radio("match", ["all", "any"]),
            "json": make.area("json", isCode: true), "opensJSON": !form.json.isEmpty || error?.path != nil,
        ]
    }

    func use(_ request: PageRequest, name: String) -> KeyValuePairs<String, String?> { ["named": name] }

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

extension AudienceForm: LibraryForm {}
