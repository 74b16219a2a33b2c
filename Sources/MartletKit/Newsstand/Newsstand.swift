#if canImport(CryptoKit) || Encryption
public import Foundation

/// A client for a publisher's issues: their catalogue, the reader's entitlement to them, and their files. It caches
/// nothing and repeats no request, so that the app decides when to repeat one.
public struct Newsstand: Sendable {
    /// The characters that need no encoding anywhere in a URL (RFC 3986 section 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
    /// The maximum number of issues on a page of the catalogue. A larger limit is treated as this number.
    public static let maximumPage = 100

    private let configuration: Martlet.Configuration
    private let transport: any DownloadTransport

    /// Creates a client for the issues that a provider publishes.
    /// - Parameter transport: The transport of requests and downloads, by default `URLSession`.
    public init(_ configuration: Martlet.Configuration, transport: any DownloadTransport = URLSessionTransport()) {
        (self.configuration, self.transport) = (configuration, transport)
    }

    /// Loads a page of the published issues, the newest first.
    /// - Parameters:
    ///   - account: The account at the publisher, whose publications are included, or `nil` for none.
    ///   - limit: The maximum number of issues, from 1 to ``maximumPage``.
    ///   - cursor: ``IssueCatalogue/next`` of the previous page, or `nil` for the first page.
    ///   - entityTag: ``IssueCatalogue/entityTag`` of the app's copy, or `nil` if it has none.
    /// - Returns: The page, or `nil` if nothing has changed.
    /// - Throws: ``NewsstandError`` if the request fails.
    public func catalogue(
        account: String? = nil,
        limit: Int = Self.maximumPage,
        after cursor: String? = nil,
        ifChangedFrom entityTag: String? = nil
    ) async throws(NewsstandError) -> IssueCatalogue? {
        var query = [URLQueryItem(name: "limit", value: "\(min(max(limit, 1), Self.maximumPage))")]
        if let account { query.append(URLQueryItem(name: "account", value: account)) }
        if let cursor { query.append(URLQueryItem(name: "cursor", value: cursor)) }
        var request = self.request("GET", "catalogue", query: query)
        request.headers["if-none-match"] = entityTag
        let response = try await self.response(to: request)
        if response.status == 304, entityTag != nil { return nil }
        let members = try Self.members(of: response)
        return try IssueCatalogue(members, entityTag: response.headers["etag"], base: self.configuration.provider)
    }

    /// Loads the published issues page by page, the newest first.
    /// - Parameters:
    ///   - account: The account at the publisher, whose publications are included, or `nil` for none.
    ///   - maximum: The maximum number of issues, rounded up to whole pages. ``IssueCatalogue/next`` leads to others.
    ///   - entityTag: ``IssueCatalogue/entityTag`` of the app's copy, or `nil` if it has none.
    /// - Returns: The issues as one page, or `nil` if nothing has changed.
    /// - Throws: ``NewsstandError`` if the request fails.
    package func issues(
        account: String?,
        maximum: Int,
        ifChangedFrom entityTag: String?
    ) async throws(NewsstandError) -> IssueCatalogue? {
        guard var catalogue = try await self.catalogue(account: account, ifChangedFrom: entityTag) else { return nil }
        for _ in 1..<max(1, (maximum + Self.maximumPage - 1) / Self.maximumPage) {
            guard let next = catalogue.next, let page = try await self.catalogue(account: account, after: next) else {
                break
            }
            catalogue = catalogue.followed(by: page)
        }
        return catalogue
    }

    /// Requests the reader's entitlements to products.
    /// - Parameters:
    ///   - products: The ids of 1 to 100 products.
    ///   - proof: The proof of the reader's purchases, by default none.
    /// - Returns: One entry for each product, in the order of `products`.
    /// - Throws: ``NewsstandError`` if the request fails.
    public func entitlements(
        to products: [String],
        proof: PurchaseProof = PurchaseProof()
    ) async throws(NewsstandError) -> [IssueEntitlement] {
        var body = proof.members
        body["productIds"] = .array(products.map { .string($0) })
        let response = try await self.response(to: self.request("POST", "entitlements", body: body))
        let entries = try Self.members(of: response)["entitlements"]?.array ?? []
        let entitlements = entries.compactMap { IssueEntitlement($0) }
        guard entitlements.map(\.product) == products else {
            throw NewsstandError.malformed("the response has other products than were asked for")
        }
        return entitlements
    }

    /// Requests the signed URL of an issue's file for a screen, if the reader is entitled to the issue.
    /// - Parameters:
    ///   - product: The product id of the issue.
    ///   - screenSize: The size of the screen in pixels, such as `2048x1536`.
    ///   - proof: The proof of the reader's purchases, by default none.
    /// - Throws: ``NewsstandError`` if the request fails, such as ``NewsstandError/refused(code:message:)`` for a
    ///   reader who is not entitled.
    public func downloadGrant(
        for product: String,
        screenSize: String,
        proof: PurchaseProof = PurchaseProof()
    ) async throws(NewsstandError) -> DownloadGrant {
        var body = proof.members
        body["screenSize"] = .string(screenSize)
        // A product id may have characters with a meaning in a path.
        let name = product.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? product
        let request = self.request("POST", "issues/\(name):download", body: body)
        let members = try Self.members(of: try await self.response(to: request))
        guard let grant = DownloadGrant(members, base: self.configuration.provider) else {
            throw NewsstandError.malformed("the response has no address of a file")
        }
        return grant
    }

    /// Downloads a file, or resumes an interrupted download.
    ///
    /// Received bytes are kept in a file beside the destination, with the extension `part`, until the file is complete
    /// and its SHA-256 is verified. A file with another SHA-256 is removed (``NewsstandError/wrongContent``).
    /// - Parameters:
    ///   - destination: The location of the complete file. Its folder must exist.
    ///   - progress: A closure that receives the number of bytes so far, including those of earlier attempts.
    /// - Throws: ``NewsstandError`` if the download fails.
    @concurrent
    public func download(
        _ file: PublishedFile,
        to destination: URL,
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws(NewsstandError) {
        let partial = try PartialFile(beside: destination)
        try await self.download(file, into: partial, progress: progress)
        try partial.place(at: destination)
    }

    /// Downloads the missing bytes of a file, and verifies the complete file.
    /// - Throws: ``NewsstandError`` if the download fails or the file has another SHA-256.
    @concurrent
    package func download(
        _ file: PublishedFile,
        into partial: any PartialContent,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(NewsstandError) {
        let transfer = try IssueTransfer(file, into: partial, progress: progress)
        if let request = transfer.request {
            do {
                try await self.transport.receive(request) { try transfer.receive($0) }
            } catch let error as NewsstandError {
                throw error
            } catch {
                throw NewsstandError.unavailable(reason: ProviderResult.text(of: error), retryAfter: nil)
            }
        }
        try transfer.finish()
    }

    // MARK: - Requests

    /// Creates a request to the provider's API.
    /// - Parameter path: The percent-encoded path relative to the app's path in the API.
    private func request(
        _ method: String,
        _ path: String,
        query: [URLQueryItem] = [],
        body: [String: JSONValue]? = nil
    ) -> TransportRequest {
        let app = self.configuration.provider.appending(path: "v1/apps/\(self.configuration.app)")
        let base = URL(string: "\(app.absoluteString)/\(path)") ?? app
        var headers = ["authorization": "Bearer \(self.configuration.key)", "accept": "application/json"]
        if body != nil { headers["content-type"] = "application/json" }
        return TransportRequest(
            method: method,
            url: query.isEmpty ? base : base.appending(queryItems: query),
            headers: headers,
            body: body.map { JSONValue.object($0).json } ?? Data()
        )
    }

    private func response(to request: TransportRequest) async throws(NewsstandError) -> TransportResponse {
        do {
            return try await self.transport.send(request)
        } catch {
            throw NewsstandError.unavailable(reason: ProviderResult.text(of: error), retryAfter: nil)
        }
    }

    /// Returns the members of a response.
    /// - Throws: The error of the response, or ``NewsstandError/malformed(_:)`` if it has no JSON object.
    private static func members(of response: TransportResponse) throws(NewsstandError) -> [String: JSONValue] {
        if let error = NewsstandError(response) { throw error }
        guard let members = JSONValue(json: response.body)?.object else {
            throw NewsstandError.malformed("the response has no JSON object")
        }
        return members
    }
}

/// An error of ``Newsstand``.
public enum NewsstandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error for a failure of the network or the provider. The call may succeed later. `retryAfter` is the delay
    /// that the provider requests before that, or `nil` if it requests none.
    case unavailable(reason: String, retryAfter: Duration?)
    /// The error for a call that the provider refuses, with a stable code such as `not_entitled` or `address_expired`.
    case refused(code: String, message: String)
    /// The error for a response that cannot be parsed, as the value explains.
    case malformed(String)
    /// The error for a file that does not have its published SHA-256. The downloaded bytes are removed.
    case wrongContent
    /// The error for a file for which the device has no space.
    case noSpace
    /// The error for a file that cannot be read or written on the device. The value is the system's description of it.
    case storage(String)

    public var description: String {
        switch self {
        case .unavailable(let reason, _): reason
        case .refused(let code, let message): message.isEmpty ? code : "\(message) (\(code))"
        case .malformed(let reason): reason
        case .wrongContent: "the file is not the one that the publisher uploaded"
        case .noSpace: "there is no space left for the file"
        case .storage(let reason): reason
        }
    }

    /// Parses the error of a response. Returns `nil` for a successful response.
    init?(_ response: TransportResponse) {
        guard !(200..<300).contains(response.status) else { return nil }
        switch ProviderResult(.success(response)) {
        case .refused(let refusal): self = .refused(code: refusal.code, message: refusal.message)
        case .later(let delay, let reason):
            let message = ProviderRefusal(response)?.message
            self = .unavailable(reason: message ?? reason, retryAfter: delay)
        case .done: return nil
        }
    }

    init(file error: any Error) {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey]
        let code = (error as? POSIXError)?.code ?? (cause as? POSIXError)?.code
        let isFull = code == .ENOSPC || code == .EDQUOT || (error as? CocoaError)?.code == .fileWriteOutOfSpace
        self = isFull ? .noSpace : .storage("\(error)".forLog)
    }
}
#endif
