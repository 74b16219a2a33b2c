import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// The page of one issue of a publication, with its files, its notification, and the forms that change it.
struct IssuePages: PageArea {
    /// The error of a posted form, with the section of the page that shows it.
    struct Extra {
        /// The section of the page whose form was rejected.
        enum Part { case edit, upload, notify, state }

        var part = Part.state
        var error: RequestError?
    }

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/publishing/issues/{issue}", { try await Self.page($0) }),
            .post("/apps/{app}/publishing/issues/{issue}/edit", self.edit),
            .post("/apps/{app}/publishing/issues/{issue}/publish", { try await self.set("publish", $0) }),
            .post("/apps/{app}/publishing/issues/{issue}/withdraw", { try await self.set("withdraw", $0) }),
            .post("/apps/{app}/publishing/issues/{issue}/delete", self.delete),
            .post("/apps/{app}/publishing/issues/{issue}/files/{place}/remove", self.removeFile),
        ]
    }

    // MARK: The page

    static func page(_ request: PageRequest, _ extra: Extra = Extra()) async throws -> Response {
        let (response, publication) = try await request.issue()
        let (issue, texts) = (response.issue, request.texts)
        var model = IssueModel.row(response, request)
        (model["may"], model["id"], model["bundleId"]) = (request.permissions, "\(issue.id)", request.app)
        model["publication"] = PublicationModel.values(publication, request)
        let hasFiles = !issue.renditions.isEmpty
        for state in IssueState.allCases { model[state.rawValue] = issue.state == state }
        model["files"] = Self.files(response, request)
        model["lacksFile"] = !hasFiles
        let isRefused = extra.error != nil
        let form = isRefused && extra.part == .edit ? IssueForm(typed: request, stored: issue) : IssueForm(issue)
        model["editFields"] = FormModel.fields(
            "edit",
            form.fields(texts),
            error: extra.part == .edit ? extra.error : nil
        )
        model["isEditOpen"] = isRefused && extra.part == .edit
        if request.may(.send) {
            model["uploadFields"] = FormModel.fields(
                "upload",
                try await IssueUploadPages.fields(request, isTyped: extra.part == .upload && isRefused),
                error: extra.part == .upload ? extra.error : nil
            )
        }
        model["isUploadOpen"] = !hasFiles || isRefused && extra.part == .upload
        try await Self.addNotify(to: &model, issue, extra, request)
        // A refusal of *Notify* is shown in place of its button, and not additionally above the page.
        let above = extra.part == .notify ? nil : extra.error
        return request.page("issue", title: issue.title, model, error: above, status: extra.error?.kind.status ?? .ok)
    }

    /// Adds the template variables for the progress of the issue's notification, if there is one. Also adds those for
    /// the button *Notify*, which sends a notification, or for the reason why *Notify* would be refused.
    private static func addNotify(
        to model: inout PageModel,
        _ issue: IssueRecord,
        _ extra: Extra,
        _ request: PageRequest
    ) async throws {
        let progress = try await NotifyProgress(issue, request)
        model["progress"] = progress?.model(request) ?? false
        if progress.map({ !$0.isFinal }) ?? false { model["live"] = "\(model["path"] ?? "")/live" }
        (model["refusal"], model["mayNotify"], model["again"]) = (false, false, progress != nil)
        if extra.part == .notify, let error = extra.error {
            model["refusal"] = ["message": error.message]
        } else if issue.state == .published, progress?.hasEnded ?? true {
            let body = JSONValue.object(["counts": .bool(false)])
            let call = LocalAPIRequest.post("\(request.issueAPI):preview", body)
            if let refusal = try await request.call(call, as: NotifyPreview.self).plan.refusal {
                model["refusal"] = ["message": refusal.message]
            } else {
                model["mayNotify"] = request.may(.send)
            }
        }
    }

    /// Returns the template variables for the files of an issue: the cover first, then the renditions.
    private static func files(_ issue: IssueResponse, _ request: PageRequest) -> [PageModel] {
        var rows: [PageModel] = []
        if let cover = issue.cover {
            var row = IssueModel.file(cover)
            (row["place"], row["label"]) = ("cover", request.texts["publishing.cover"])
            rows.append(row)
        }
        for rendition in issue.renditions {
            var row = IssueModel.file(rendition.file)
            (row["place"], row["label"]) = (rendition.size, rendition.size)
            rows.append(row)
        }
        return rows
    }

    // MARK: Changes

    private func edit(_ request: PageRequest) async throws -> Response {
        try await self.change(request, .edit, done: "saved") {
            let (response, _) = try await request.issue()
            let body = IssueForm(typed: request, stored: response.issue).body(isNew: false)
            return try await request.call(.patch(request.issueAPI, body))
        }
    }

    private func set(_ operation: String, _ request: PageRequest) async throws -> Response {
        try await self.change(request, .state, done: "issue-\(operation)") {
            _ = try await request.issue()
            return try await request.call(.post("\(request.issueAPI):\(operation)"))
        }
    }

    private func removeFile(_ request: PageRequest) async throws -> Response {
        try await self.change(request, .upload, done: "removed") {
            _ = try await request.issue()
            let place = request.parameter("place")
            let path = place == "cover" ? "cover" : "renditions/\(URLText.encoded(place))"
            return try await request.call(.delete("\(request.issueAPI)/\(path)"))
        }
    }

    private func delete(_ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let (_, publication) = try await request.issue()
        do {
            _ = try await request.call(.delete(request.issueAPI))
            return request.redirect(to: request.publicationPath("\(publication.publication.id)"), done: "removed")
        } catch let error as RequestError {
            return try await Self.page(request, Extra(part: .state, error: error))
        }
    }

    /// Performs a change, and redirects to the page of the issue. An error is shown in the section of the page with the
    /// form that caused it.
    /// - Parameter change: A closure that performs the change, and returns the response of the API.
    private func change(
        _ request: PageRequest,
        _ part: Extra.Part,
        done: String,
        _ change: () async throws -> JSONValue
    ) async throws -> Response {
        try request.require(.send)
        do {
            let answer = try await change()
            return request.redirect(to: request.issuePath(request.parameter("issue")), done: done, after: answer)
        } catch let error as RequestError where error.kind != .notFound {
            return try await Self.page(request, Extra(part: part, error: error))
        }
    }
}

/// The form of an issue of a publication, with its fields and the API request that they describe.
struct IssueForm {
    private var values: [String: String]
    /// A Boolean value that indicates whether the product id may be changed, which is possible until the issue is first
    /// published.
    private let hasProductID: Bool

    init() { (self.values, self.hasProductID) = (["access": "free"], true) }

    init(_ issue: IssueRecord) {
        self.values = [
            "productId": issue.productID, "title": issue.title, "number": issue.number ?? "",
            "date": issue.date.description, "access": issue.access.rawValue,
        ]
        self.hasProductID = issue.publishedAt == nil
    }

    /// Creates the form from the posted fields.
    /// - Parameter stored: The issue that the form changes, or `nil` for a new one.
    init(typed request: PageRequest, stored: IssueRecord? = nil) {
        let names = ["productId", "title", "number", "date", "access"]
        self.values = Dictionary(uniqueKeysWithValues: names.map { ($0, request.typed($0) ?? "") })
        self.hasProductID = stored?.publishedAt == nil
    }

    func fields(_ texts: LocalizedTexts) -> [FormField] {
        let make = MemberFields(texts: texts, area: "publishing", list: IssueRequest.addition)
        func field(_ name: String, _ control: FormField.Control = .line(type: "text")) -> FormField {
            make.field(
                name,
                control,
                label: "fields.\(name)",
                value: self.values[name] ?? "",
                hint: "hints.\(name)"
            )
        }
        let access = make.options("access", "access")
        return [field("title"), field("number"), field("date", .line(type: "date"))]
            + (self.hasProductID ? [field("productId")] : []) + [field("access", .choice(access))]
    }

    /// Returns the body of the request that adds or changes the issue. An empty field removes the issue's number.
    func body(isNew: Bool) -> JSONValue {
        let number = self.text("number").map(JSONValue.string)
        return .members([
            "title": .string(self.values["title"] ?? ""), "date": .string(self.values["date"] ?? ""),
            "number": number ?? (isNew ? nil : .null), "access": self.text("access").map(JSONValue.string),
            "productId": self.hasProductID ? .string(self.values["productId"] ?? "") : nil,
        ])
    }

    private func text(_ name: String) -> String? { self.values[name].flatMap { $0.isEmpty ? nil : $0 } }
}

enum IssueModel {
    static func row(_ response: IssueResponse, _ request: PageRequest) -> PageModel {
        let issue = response.issue
        var model = PageValue.members(response)
        model["path"] = "\(Dashboard.root)\(request.issuePath("\(issue.id)"))"
        model["stateLabel"] = StateLabel.model(issue.state.rawValue, request.texts)
        model["accessText"] = request.texts["publishing.access.\(issue.access.rawValue)"]
        model["sizeText"] = issue.renditions.map(\.screenSize.description).joined(separator: ", ")
        model["isNotified"] = issue.notification != nil
        for name in ["number", "publishedAt", "notification"] where model[name] == nil { model[name] = false }
        return model
    }

    static func file(_ file: FileResponse) -> PageModel {
        var model = PageValue.members(file)
        model["shortHash"] = "\(file.hash.prefix(8))…\(file.hash.suffix(8))"
        return model
    }
}
