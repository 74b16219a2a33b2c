import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations of publishing that an app calls with its public key: `catalogue`, `entitlements` and
/// `issues/{productId}:download` of `/v1/apps/{app}`.
struct CatalogueController: Controller {
    /// The maximum length of a cached page, in bytes. Longer pages are created anew for each request.
    private static let maximumKeptPage = 256 * 1024
    let store: any AppStore & PublishingStore
    let entitlements: EntitlementChecker
    let addresses: FileAddresses
    /// The cache of recently requested pages, as encoded responses. Its maximum size is 16 MiB.
    private let pages = SharedCache<PageKey, ByteBuffer>(maximum: 64)

    private struct PageKey: Hashable {
        var app: Int64
        var tag: String
        var account: String?
        var after: IssueCursor?
        var limit: Int
    }

    init(store: any AppStore & PublishingStore, entitlements: EntitlementChecker, addresses: FileAddresses) {
        (self.store, self.entitlements, self.addresses) = (store, entitlements, addresses)
    }

    var operations: [ProviderOperation] {
        let app = "/v1/apps/{app}"
        let account = ParameterDescription.query("account", "With the publications of this account.", .text)
        let page = ResponseDescription(
            status: 200,
            "A page of the catalogue.",
            .page("issues", of: CatalogueEntry.schema),
            headers: ["etag": "The version; with it in if-none-match the response is 304 until something changes."]
        )
        let unchanged = ResponseDescription(status: 304, "It is the version of if-none-match.")
        let match = ParameterDescription.header("if-none-match", "The version that the app has.")
        let operations: [ProviderOperation] = [
            .init(.get, "\(app)/catalogue", id: "catalogue", "The published issues, the newest first.", self.catalogue)
                .parameters(account, match, .cursor, .limit()).responses(page, unchanged),
            .init(.post, "\(app)/entitlements", .readOnly, id: "entitlements", self.entitle)
                .summary("Decides which issues a reader may download.")
                .body(EntitlementProof.entitlements.schema, maximum: EntitlementProof.maximumRequest)
                .responses(.ok(.list("entitlements", of: EntitlementResponse.schema))),
            .init(.post, "\(app)/issues/{productId}:download", .readOnly, id: "downloadIssue", self.download)
                .summary("The signed address of an issue's file for a screen.")
                .body(EntitlementProof.download.schema, maximum: EntitlementProof.maximumRequest)
                .responses(.ok(DownloadResponse.schema)).errors(.conflict, .unavailable),
        ]
        let preview = ProviderOperation(.get, "\(app)/catalogue:preview", id: "previewCatalogue", self.catalogue)
            .summary("The catalogue as apps see it, for who has no app.").scope(.read)
            .parameters(account, match, .cursor, .limit()).responses(page, unchanged)
        return (operations.map { $0.scope(.registerSelf) } + [preview]).map { $0.tag(.publishing) }
    }

    /// Responds with a page of the catalogue, or with 304. A response with 304 requires a single query of the store.
    private func catalogue(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (after, limit) = (try request.issueCursor(), try request.limit())
        let account = try request.text("account", maximum: EntitlementProof.maximumAccount)
        let version = try await self.store.catalogueVersion(app: app.id)
        // The entity tag also covers the account, the cursor and the limit, because the page depends on them.
        let asked = Data("\(account ?? "")\0\(request.query["cursor"] ?? "")\0\(limit)".utf8)
        let digest = ContentHash(SHA256.hash(data: asked)).hex.prefix(8)
        let tag = "\"\(version)-\(self.addresses.coverEpoch)-\(digest)\""
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache"]
        if EntityTag.matches(request.http.headers[.ifNoneMatch], tag) {
            return Response(status: .notModified, headers: headers)
        }
        let key = PageKey(app: app.id, tag: tag, account: account, after: after, limit: limit)
        // The dashboard calls in process and uses the entries instead of JSON. The cache contains encoded pages only.
        if ResponseValue.current == nil, let page = self.pages[key] {
            return .content(page, "application/json", .ok, headers)
        }
        let issues = try await self.store.catalogue(app: app.id, account: account, after: after, limit: limit)
        let names = Dictionary(try await self.store.publications(app: app.id).map { ($0.id, $0.name) }) { $1 }
        var entries: [CatalogueEntry] = []
        for issue in issues {
            var entry = CatalogueEntry(issue: issue, publicationName: names[issue.publication] ?? "")
            if let cover = issue.cover {
                entry.coverAddress = try await self.addresses.cover(cover.hash, issue: issue.id).text
            }
            entries.append(entry)
        }
        let next = issues.count == limit ? issues.last.map { Cursor($0.cursor).text } : nil
        guard ResponseValue.current == nil else { return try .page("issues", entries, next: next) }
        var members: [String: JSONValue] = ["issues": entries.json]
        members["next"] = next.map { .string($0) }
        let page = ByteBuffer(bytes: try JSONValue.object(members).text)
        if page.readableBytes <= Self.maximumKeptPage { self.pages[key] = page }
        return .content(page, "application/json", .ok, headers)
    }

    private func entitle(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(EntitlementProof.entitlements)
        guard let products = try fields.value(EntitlementProof.products), !products.isEmpty
        else { throw fields.error("productIds", "missing_field", "name at least one product") }
        let proof = try EntitlementProof(fields)
        let found = try await self.visible(self.store.issues(app: app.id, productIDs: Set(products)), app, proof)
        let issues = Dictionary(found.map { ($0.productID, $0) }) { $1 }
        let published = found.filter { $0.state == .published }
        let decisions = try await self.decide(published, app, proof, for: request)
        let known = Dictionary(zip(published.map(\.productID), decisions)) { $1 }
        return try .page(
            "entitlements",
            products.map { product in
                EntitlementResponse(product, known[product] ?? Self.missing(issues[product]).decision)
            }
        )
    }

    private func download(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(EntitlementProof.download)
        let screen = try fields.required(EntitlementProof.screenSize, EntitlementProof.screenForm)
        let proof = try EntitlementProof(fields)
        let named = try await self.store.issue(app: app.id, productID: request.path("productId"))
        let issue = try await self.visible(named.map { [$0] } ?? [], app, proof).first
        guard let issue, issue.state == .published else { throw Self.missing(issue) }
        let decision = try await self.decide([issue], app, proof, for: request).first
        let grounds: EntitlementGrounds
        switch decision {
        case .entitled(let by): grounds = by
        case .refused(let reason, let message):
            throw RequestError(.forbidden, code: reason, message: message, path: "productId")
        case .unavailable(let message, let delay):
            let error = RequestError(.unavailable, code: EntitlementResponse.unavailable, message: message)
            throw RetryLaterError(error, after: delay)
        case .tooMany(let refusal): throw refusal.error
        case nil: throw RequestError.internalFailure
        }
        guard let rendition = issue.rendition(for: screen) else {
            let sizes = issue.renditions.map(\.screenSize.description).joined(separator: ", ")
            let message = "none is for a screen of \(screen): there is \(sizes.isEmpty ? "no rendition" : sizes)"
            throw RequestError.conflict("no_rendition", message, at: "screenSize")
        }
        let address = try await self.addresses.download(rendition.file.hash, issue: issue.id)
        return try .json(
            DownloadResponse(
                issue: issue,
                rendition: rendition,
                isExact: rendition.screenSize == screen,
                grounds: grounds,
                address: address
            )
        )
    }

    /// Returns those of the issues that the reader's account may see. These are the issues of publications without an
    /// account and of the account's publications.
    private func visible(
        _ issues: [IssueRecord],
        _ app: AppRecord,
        _ proof: EntitlementProof
    ) async throws -> [IssueRecord] {
        guard !issues.isEmpty else { return [] }
        let publications = try await self.store.publications(app: app.id)
        let visible = Set(publications.filter { $0.account == nil || $0.account == proof.account }.map(\.id))
        return issues.filter { visible.contains($0.publication) }
    }

    /// Returns the entitlement decisions about `issues`, in the same order.
    /// - Throws: `CancellationError` if the client disconnects.
    private func decide(
        _ issues: [IssueRecord],
        _ app: AppRecord,
        _ proof: EntitlementProof,
        for request: OperationRequest
    ) async throws -> [EntitlementDecision] {
        let (entitlements, client) = (self.entitlements, BudgetCaller.Identity(ofReaderOn: request.context.channel))
        return try await request.context.channel.withClientConnected {
            await entitlements.decide(issues, app: app, proof: proof, client: client)
        }
    }

    /// Returns the error for an issue that is not published. For a draft, the error is the same as for an issue that
    /// does not exist.
    private static func missing(_ issue: IssueRecord?) -> RequestError {
        guard issue?.state == .withdrawn else { return .noSuch("issue", by: "product id", at: "productId") }
        let message = "the publisher has withdrawn this issue"
        return RequestError(.notFound, code: "issue_withdrawn", message: message, path: "productId")
    }
}

extension RequestError {
    /// This error as an entitlement decision: a refusal with the same code and message.
    fileprivate var decision: EntitlementDecision { .refused(reason: self.code, message: self.message) }
}

/// The entity tags of conditional requests (RFC 9110 section 13.1).
enum EntityTag {
    /// Returns whether a field value such as that of `if-none-match` is `*` or contains the tag, by weak comparison.
    /// The result is `false` for `nil`.
    static func matches(_ field: String?, _ tag: String) -> Bool {
        guard let field else { return false }
        return field.split(separator: ",").contains { entry in
            let text = entry.filter { $0 != " " && $0 != "\t" }
            return text == "*" || text == tag || text == "W/\(tag)"
        }
    }
}
