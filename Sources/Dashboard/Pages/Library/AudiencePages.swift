import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The pages of an app's named audiences, with a form of conditions in rows and a preview with some of the devices.
struct AudiencePages: LibraryPages {
    private static let sample = 5
    let library = LibraryItemPages<NamedAudienceResponse>(plural: "audiences")
    let previewTemplate = "audience-preview"
    var menuEntry: MenuEntry? { MenuEntry(.app, "audiences") }

    func form(of body: JSONValue) -> AudienceForm { AudienceForm(body) }

    func members(of form: AudienceForm) throws(RequestError) -> [String: JSONValue?] {
        ["audience": try form.expression()]
    }

    /// Returns the template variables for the preview: the number of devices and some of them, or the error. For a form
    /// without a condition, they state that there is no preview.
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

/// The form of an audience, with rows of conditions exactly as they were entered.
struct AudienceForm: Sendable, Equatable {
    /// One condition of an audience, which is a row of the form.
    struct Row: Sendable, Equatable {
        var kind = "tag"
        var name = ""
        var comparison = "is"
        var value = ""

        var isEmpty: Bool { self.value.isEmpty && self.name.isEmpty && self.kind != "all" }
    }

    static let kinds = ["tag", "user", "locale", "timeZone", "appVersion", "lastSeen", "attribute", "all"]
    static let comparisons = ["is", "not", "atLeast", "above", "atMost", "below"]
    /// The maximum number of rows. Further conditions must be written as JSON.
    static let maximumRows = 50

    var rows: [Row] = [Row()]
    /// A Boolean value that indicates whether one of the conditions suffices. If it is `false`, all must be met.
    var isAny = false
    /// A further condition as JSON, for conditions that rows cannot express.
    var json = ""

    init() {}

    init(_ form: FormData) {
        self.isAny = form["match"] == "any"
        self.json = form["json"] ?? ""
        self.rows = []
        for index in 0..<Self.maximumRows {
            guard let kind = form["kind\(index)"] else { break }
            let texts = ["attribute", "operator", "value"].map { form["\($0)\(index)"] ?? "" }
            self.rows.append(Row(kind: kind, name: texts[0], comparison: texts[1], value: texts[2]))
        }
    }

    /// Adds or removes a row if the pressed button requests it.
    /// - Returns: `true` for a button that adds or removes a row, and `false` for any other button.
    mutating func change(by action: String) -> Bool {
        if action == "add-condition" {
            if self.rows.count < Self.maximumRows { self.rows.append(Row()) }
            return true
        }
        let prefix = "remove-condition-"
        guard action.hasPrefix(prefix) else { return false }
        if let index = Int(action.dropFirst(prefix.count)), self.rows.indices.contains(index) {
            self.rows.remove(at: index)
        }
        return true
    }

    // MARK: JSON

    /// Returns the audience as JSON for the API, or `nil` if the form has no condition.
    /// - Throws: ``RequestError`` for JSON that cannot be parsed.
    func expression() throws(RequestError) -> JSONValue? {
        var conditions = self.rows.filter { !$0.isEmpty }.map(\.condition)
        if let more = try JSONValue.object(typed: self.json, in: "json") { conditions.append(.object(more)) }
        guard conditions.count > 1 else { return conditions.first }
        return .object([self.isAny ? "or" : "and": .array(conditions)])
    }

    /// Creates the form for an audience. Conditions that rows cannot express are written into the JSON field.
    init(_ expression: JSONValue) {
        var conditions = [expression]
        if case .object(let members) = expression {
            for name in ["and", "or"] where members.count == 1 && !members[name, default: .null].elements.isEmpty {
                (conditions, self.isAny) = (expression[name].elements, name == "or")
            }
            // The members of one object must all be met, so each of them can be a row.
            if conditions.count == 1, members["attribute"] == nil, members["and"] == nil, members["or"] == nil {
                conditions = members.sorted { $0.key < $1.key }.map { .object([$0.key: $0.value]) }
            }
        }
        self.rows = conditions.compactMap(Row.init)
        let others = conditions.filter { Row($0) == nil }
        guard let first = others.first else { return }
        self.json = (others.count == 1 ? first : .object([self.isAny ? "or" : "and": .array(others)])).indented
    }
}

extension AudienceForm.Row {
    fileprivate var condition: JSONValue {
        guard self.comparison != "not" else {
            var other = self
            other.comparison = "is"
            return .object(["not": other.condition])
        }
        switch self.kind {
        case "all": return .object(["all": .bool(true)])
        case "lastSeen": return .object(["lastSeen": .object(["withinDays": self.typed])])
        case "appVersion": return .object(["appVersion": .object([self.comparison: .string(self.value)])])
        case "attribute":
            let name = JSONValue.string(self.name)
            return .object(self.value.isEmpty ? ["attribute": name] : ["attribute": name, self.comparison: self.typed])
        default: return .object([self.kind: .string(self.value)])
        }
    }

    /// The value as a number or a Boolean if it can be read as one, and otherwise as a string.
    private var typed: JSONValue {
        if let number = Int64(self.value) { return .integer(number) }
        if let number = Double(self.value), number.isFinite { return .number(number) }
        return ["true": .bool(true), "false": .bool(false)][self.value] ?? .string(self.value)
    }

    /// Creates the row for one condition. Returns `nil` for a condition that a row cannot express.
    fileprivate init?(_ condition: JSONValue) {
        guard case .object(let members) = condition else { return nil }
        if members.count == 1, let inner = members["not"], let row = Self(inner), row.comparison == "is" {
            self = row
            self.comparison = "not"
            return
        }
        let row = Self.plain(members)
        guard let row, row.condition == condition else { return nil }
        self = row
    }

    private static func plain(_ members: [String: JSONValue]) -> Self? {
        if let name = members["attribute"]?.stringValue {
            guard let (word, value) = members.first(where: { $0.key != "attribute" }) else {
                return Self(kind: "attribute", name: name)
            }
            let text = value.stringValue ?? value.line
            return Self(kind: "attribute", name: name, comparison: word, value: text)
        }
        guard members.count == 1, let (kind, value) = members.first else { return nil }
        switch (kind, value) {
        case ("all", _): return Self(kind: kind)
        case ("lastSeen", _): return Self(kind: kind, value: value["withinDays"].line)
        case ("appVersion", .object(let version)):
            return version.first.map { Self(kind: kind, comparison: $0.key, value: $0.value.stringValue ?? "") }
        default: return Self(kind: kind, value: value.stringValue ?? "")
        }
    }
}
