import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations at `/v1/publications/{publication}/issues` and `/v1/issues`, which manage issues and their files.
struct IssuesController: Controller {
    let store: any FileStore & PublishingStore
    let folder: FileFolder
    let wakes: LaneWakeSignals
    /// The queue of pushes in memory. The withdrawal of an issue removes the issue's pushes from it.
    let direct: DirectDispatch
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (all, one) = ("/v1/publications/{publication}/issues", "/v1/issues/{issue}")
        let state = ParameterDescription.query("state", "In this state.", .choice(of: IssueState.self))
        let sort = ParameterDescription.query("sort", "Default newest.", .choice(of: IssueOrder.self))
        let shown = ResponseDescription.ok(IssueResponse.schema)
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listIssues", "The publication's issues by date.", self.list)
                .scope(.read).parameters(state, sort, .cursor, .limit())
                .responses(.ok(.page("issues", of: IssueResponse.schema))).reservingPage(ofEntries: 1024),
            .init(.post, all, .audited, id: "addIssue", "Adds a draft.", self.add)
                .scope(.send).body(IssueRequest.addition.schema).responses(.created(IssueResponse.schema))
                .errors(.conflict),
            .init(.get, one, id: "showIssue", "One issue.", self.show).scope(.read).responses(shown),
            .init(.patch, one, .audited, id: "changeIssue", "Changes an issue.", self.change)
                .scope(.send).body(IssueRequest.change.schema).responses(shown).errors(.conflict),
            .init(.delete, one, .audited, id: "deleteIssue", "Removes an issue that is not published.", self.delete)
                .scope(.send).responses(.noContent).errors(.conflict),
            .init(.post, "\(one):publish", .audited, id: "publishIssue") { try await self.set(.published, $0) }
                .summary("Puts an issue into the catalogue.").scope(.send).responses(shown),
            .init(.post, "\(one):withdraw", .audited, id: "withdrawIssue") { try await self.set(.withdrawn, $0) }
                .summary("Takes an issue from the catalogue. Of its notification only what is underWay is still sent.")
                .scope(.send).responses(shown).errors(.conflict),
        ]
        return (operations + self.files(of: one)).map { $0.tag(.publishing) }
    }

    private func files(of issue: String) -> [ProviderOperation] {
        let (rendition, cover) = ("\(issue)/renditions/{screenSize}", "\(issue)/cover")
        let shown = ResponseDescription.ok(IssueResponse.schema)
        return [
            .init(.put, rendition, .audited, id: "setRendition") { try await self.setRendition($0, isSet: true) }
                .summary("Sets the file of an issue for a screen size.")
                .scope(.send).body(IssueRequest.fileChoice.schema).responses(shown).errors(.conflict),
            .init(.delete, rendition, .audited, id: "deleteRendition") { try await self.setRendition($0, isSet: false) }
                .summary("Removes the file of an issue for a screen size.").scope(.send).responses(shown),
            .init(.put, cover, .audited, id: "setCover") { try await self.setCover($0, isSet: true) }
                .summary("Sets the cover of an issue: an image, by its content.")
                .scope(.send).body(IssueRequest.fileChoice.schema).responses(shown).errors(.conflict),
            .init(.delete, cover, .audited, id: "deleteCover") { try await self.setCover($0, isSet: false) }
                .summary("Removes the cover of an issue.").scope(.send).responses(shown),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let publication = try await request.object("publication") { try await self.store.publication($0) }
        let limit = try request.limit()
        let issues = try await self.store.issues(
            publication: publication.id,
            state: try request.choice("state", IssueState.self),
            order: try request.choice("sort", IssueOrder.self) ?? .newest,
            after: try request.issueCursor(),
            limit: limit
        )
        let next = issues.count == limit ? issues.last.map { Cursor($0.cursor).text } : nil
        return try .page("issues", issues.map { IssueResponse(issue: $0) }, next: next)
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let publication = try await request.object("publication") { try await self.store.publication($0) }
        let fields = try await request.fields(IssueRequest.addition)
        let changes = try IssueRequest.changes(fields)
        let productID = try fields.required(IssueRequest.productID)
        let date = try fields.required(IssueRequest.date)
        var issue = IssueRecord(
            id: UUID(),
            app: publication.app,
            publication: publication.id,
            productID: productID,
            title: try fields.required(IssueRequest.title),
            date: date,
            access: changes.access ?? .free,
            createdAt: self.time.now
        )
        issue.number = changes.number?.value
        let result = try await self.store.addIssue(issue)
        if case .missing = result { throw RequestError.noSuch("publication") }
        request.made(issue.id)
        return try Self.response(result, status: .created)
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        try .json(IssueResponse(issue: try await request.object("issue") { try await self.store.issue($0) }))
    }

    /// Changes the members that are in the body and leaves the others. `null` removes a value.
    private func change(_ request: OperationRequest) async throws -> Response {
        let changes = try IssueRequest.changes(try await request.fields(IssueRequest.change))
        return try await self.change(request, changes)
    }

    private func set(_ state: IssueState, _ request: OperationRequest) async throws -> Response {
        var changes = IssueChanges()
        changes.state = state
        return try await self.change(request, changes)
    }

    private func change(_ request: OperationRequest, _ changes: IssueChanges) async throws -> Response {
        let isWithdrawal = changes.state == .withdrawn
        let result = try await request.object("issue") {
            try await self.store.changeIssue($0, changes, now: isWithdrawal ? self.time.recorded : self.time.now)
        }
        let underWay = isWithdrawal ? self.takeBack(result) : nil
        return try Self.response(result, underWay: underWay) {
            changes.state == .published ? ContentWarning.lacksFile($0) : nil
        }
    }

    /// Removes the pushes for a withdrawn issue's notification from memory. The store has already cancelled it.
    /// - Returns: The number of pushes in flight, or `nil` if the issue was not withdrawn or has no notification.
    private func takeBack(_ result: IssueChangeResult) -> Int? {
        guard case .done(let issue) = result, let notification = issue.notification else { return nil }
        let underWay = self.direct.apply(.notification(notification)).count
        for lane in NotificationRecord.Lane.allCases { self.wakes[lane].signal() }
        return underWay
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        switch try await request.object("issue", { try await self.store.deleteIssue($0, now: self.time.recorded) }) {
        case .deleted: return .noContent
        case .missing: throw RequestError.noSuch("issue")
        case .isPublished: throw RequestError.conflict("is_published", "withdraw the issue before you remove it")
        }
    }

    private func setRendition(_ request: OperationRequest, isSet: Bool) async throws -> Response {
        guard let size = ScreenSize(request.path("screenSize")) else {
            throw RequestError.invalid("screenSize", "use a size in pixels such as 2048x1536")
        }
        let file = isSet ? try await self.file(request) : nil
        return try Self.response(
            try await request.object("issue") {
                try await self.store.setRendition(size, of: $0, to: file, now: self.time.recorded)
            }
        )
    }

    private func setCover(_ request: OperationRequest, isSet: Bool) async throws -> Response {
        let cover = isSet ? try await self.cover(request) : nil
        return try Self.response(
            try await request.object("issue") {
                try await self.store.setCover(of: $0, to: cover, now: self.time.recorded)
            }
        )
    }

    /// Returns the file that the body names as a cover. The file must contain an image, regardless of the content type
    /// with which it was uploaded.
    private func cover(_ request: OperationRequest) async throws -> CoverFile {
        let (hash, folder) = (try await self.file(request), self.folder)
        let issue = try await request.object("issue") { try await self.store.issue($0) }
        // A file without a record in this app may belong to another app, so its content must not be read.
        guard let file = try await self.store.file(hash, app: issue.app) else { throw Self.noFile }
        guard try await FileFolder.blocking({ folder.hasContent(hash, size: file.size) }) else {
            throw RequestError.conflict(
                "file_missing",
                "the provider has lost the content of this file: upload it again",
                at: "file"
            )
        }
        let format = try await FileFolder.blocking { ImageFormat(try folder.beginning(of: hash)) }
        guard let format else {
            let message = "a cover is an image (\(ImageFormat.names)), and this file is none"
            throw RequestError(.invalid, code: "not_an_image", message: message, path: "file")
        }
        return CoverFile(hash: hash, contentType: format.rawValue)
    }

    private func file(_ request: OperationRequest) async throws -> ContentHash {
        try await request.fields(IssueRequest.fileChoice).required(IssueRequest.file)
    }
}

extension IssuesController {
    /// Returns the response with the changed issue, or throws the reason why it was not changed.
    /// - Parameters:
    ///   - underWay: The number of pushes in flight that a withdrawal could not stop, or `nil` for any other change.
    ///   - warnings: A closure that returns the warnings about the changed issue, or `nil` for none, the default.
    private static func response(
        _ result: IssueChangeResult,
        status: HTTPResponse.Status = .ok,
        underWay: Int? = nil,
        warnings: (IssueRecord) -> [ContentWarning]? = { _ in nil }
    ) throws -> Response {
        switch result {
        case .done(let issue):
            let response = IssueResponse(issue: issue, warnings: warnings(issue), underWay: underWay)
            return try .json(response, status: status)
        case .missing: throw RequestError.noSuch("issue")
        case .productIDTaken:
            throw RequestError.conflict("product_id_taken", "another issue of the app has it", at: "productId")
        case .tooMany:
            let message = """
                an app has at most \(IssueRecord.maximumOfApp) issues, and an issue \(IssueRecord.maximumRenditions) \
                renditions
                """
            throw RequestError.conflict("too_many", message)
        case .wasPublished:
            let message = "apps know the issue by it since it was published: add another issue"
            throw RequestError.conflict("was_published", message, at: "productId")
        case .isDraft: throw RequestError.conflict("is_draft", "a draft is not in the catalogue: remove it instead")
        case .noFile: throw Self.noFile
        }
    }

    private static let noFile = RequestError.conflict(
        "no_such_file",
        "the app has no such file: upload it first",
        at: "file"
    )
}

extension ContentWarning {
    /// Returns a warning if an issue has no file that a device could download, or `nil` if it has one.
    fileprivate static func lacksFile(_ issue: IssueRecord) -> [ContentWarning]? {
        guard issue.renditions.isEmpty else { return nil }
        let message = "the issue has no file: readers see it in the catalogue and cannot download it, so upload one"
        return [ContentWarning(field: "renditions", message: message)]
    }
}

extension Cursor {
    init(_ position: IssueCursor) { self.init(list: .issues, position: position.day, second: position.position) }
}

extension OperationRequest {
    /// Returns the position at which the previous page ended, or `nil` for the first page.
    func issueCursor() throws -> IssueCursor? {
        try self.cursor(.issues).map { IssueCursor(day: $0.position, position: $0.second ?? 0) }
    }
}

/// The response object for an issue, with its state and its files.
package struct IssueResponse: ResponseObject {
    package let issue: IssueRecord
    /// The warnings about the issue. They are `nil` except in the response to the request that publishes it.
    var warnings: [ContentWarning]?
    /// The number of pushes in flight when the issue was withdrawn, or `nil` in responses to other requests.
    var underWay: Int?

    package var cover: FileResponse? { self.issue.cover.map(FileResponse.init) }
    package var renditions: [RenditionResponse] { self.issue.renditions.map(RenditionResponse.init) }

    package static let schemaName: String? = "Issue"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.issue.id),
        .required("publication", \.issue.publication),
        .required("productId", \.issue.productID),
        .required("title", \.issue.title),
        .optional("number", \.issue.number, "The number that readers see."),
        .required("date", \.issue.date.description, as: .date),
        .required("state", \.issue.state),
        .required("access", \.issue.access),
        .optional("cover", \.cover),
        .required("renditions", \.renditions, "The files by screen size, the smallest first."),
        .optional("notification", \.issue.notification, "The notification of its latest Notify."),
        .required("createdAtMs", \.issue.createdAt),
        .optional("publishedAtMs", \.issue.publishedAt, "The time of its latest publication."),
        .optional("warnings", \.warnings, "Only of publishing."),
        .optional(
            "underWay",
            \.underWay,
            "The pushes of its notification that a withdrawal could not take back: the last ones."
        ),
    ]
}

extension IssueState: JSONRepresentable {}
extension IssueAccess: JSONRepresentable {}

/// The response object for an uploaded file.
package struct FileResponse: ResponseObject {
    package let file: FileRecord

    package var hash: String { self.file.hash.hex }

    package static let schemaName: String? = "File"
    package static let members: [ResponseMember<Self>] = [
        .required("sha256", \.hash, as: .contentHash),
        .required("size", \.file.size, "In bytes."),
        .required("contentType", \.file.contentType),
        .required("name", \.file.name, "The name that it had when it was uploaded."),
        .required("createdAtMs", \.file.createdAt),
        .optional("unusedSinceMs", \.file.unusedSince, "The time since which no issue uses it."),
    ]
}

/// The response object for a rendition, which is the file of an issue for a screen size.
package struct RenditionResponse: ResponseObject {
    let rendition: RenditionRecord

    package var size: String { self.rendition.screenSize.description }
    package var file: FileResponse { FileResponse(file: self.rendition.file) }

    package static let schemaName: String? = "Rendition"
    package static let members: [ResponseMember<Self>] = [
        .required("screenSize", \.size, "The longer side first."), .required("file", \.file),
    ]
}
