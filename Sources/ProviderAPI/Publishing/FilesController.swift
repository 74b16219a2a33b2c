import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operation `/v1/files/{file}`, which returns the content of files at their signed URLs.
struct FilesController: Controller {
    let store: any AppStore & FileStore
    let folder: FileFolder
    let addresses: FileAddresses
    let downloads: DownloadMonitor
    let connections: ConnectionLimiter
    let files: FileMonitor
    let logger: Logger

    var operations: [ProviderOperation] {
        let address: [ParameterDescription] = [
            .query("issue", "A part of the address.", .uuid), .query("expires", "A part of the address.", .integer()),
            .query("signature", "A part of the address.", .string(length: 43...43)),
        ]
        let conditions: [ParameterDescription] = [
            .header("range", "One range of bytes."), .header("if-range", "The tag for which the range holds."),
            .header("if-none-match", "The tags that the app has."),
        ]
        let fields = ["etag": "The SHA-256 in quotation marks.", "accept-ranges": "bytes."]
        let whole = ResponseDescription(status: 200, "The file.", .string(), contentTypes: ["*/*"], headers: fields)
        let part = ResponseDescription(status: 206, "A part of it.", .string(), contentTypes: ["*/*"], headers: fields)
        let other = [
            ResponseDescription(status: 304, "The tag is in if-none-match."),
            ResponseDescription(status: 416, "The range has no byte of the file."),
        ]
        let path = "/v1/files/{file}"
        let head = ResponseDescription(status: 200, "See the fields.", headers: fields)
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "file", "The content of a file, at its signed address.", self.respond)
                .parameters(address + conditions).responses(whole, part, other[0], other[1]),
            .init(.head, path, id: "fileHead", "The fields of that response.", self.respond)
                .parameters(address + conditions).responses(head),
        ]
        return operations.map { $0.tag(.publishing).errors(.forbidden, .unavailable).streamed() }
    }

    private func respond(_ request: OperationRequest) async throws -> Response {
        let download = try await self.file(request)
        let (file, fields) = (download.file, request.http.headers)
        let tag = "\"\(file.hash.hex)\""
        var headers = Self.headers(of: file, tag: tag)
        if EntityTag.matches(fields[.ifNoneMatch], tag) { return Response(status: .notModified, headers: headers) }
        // A range is defined only for GET (RFC 9110 section 14.2).
        let isRanged = request.http.method == .get && fields[.ifRange].map { $0 == tag } ?? true
        let part: Range<Int>
        var status = HTTPResponse.Status.ok
        switch ByteRange(isRanged ? fields[.range] : nil, size: file.size) {
        case .whole: part = 0..<file.size
        case .part(let range):
            (part, status) = (range, .partialContent)
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(file.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
        headers[.contentLength] = "\(part.count)"
        guard request.http.method == .get else { return Response(status: status, headers: headers) }
        return Response(status: status, headers: headers, body: try await self.body(download, part, request))
    }

    private func file(_ request: OperationRequest) async throws -> UsedFile {
        let issue = request.query["issue"].flatMap { UUID(uuidString: $0) }
        let expires = request.query["expires"].flatMap { Int64($0) }
        guard let hash = ContentHash(hex: request.path("file")), let issue, let expires,
            let signature = request.query["signature"]
        else { throw Self.invalid }
        switch try await self.addresses.check(hash, issue: issue, expires: expires, signature: signature) {
        case .valid: break
        case .invalid: throw Self.invalid
        case .expired:
            let message = "the address has expired: ask for another one"
            throw RequestError(.forbidden, code: "address_expired", message: message, path: "expires")
        }
        guard let download = try await self.store.downloadable(hash, issue: issue) else {
            let message = "the issue was withdrawn, or has another file now: ask for its address again"
            throw RequestError(.notFound, code: "no_such_file", message: message, path: "file")
        }
        return download
    }

    private static let invalid = RequestError(
        .forbidden,
        code: "invalid_signature",
        message: "this is no address of a file: use one as the provider returned it",
        path: "signature"
    )

    /// Returns the header fields of every response with a file. They prevent browsers from showing a publisher's file
    /// as a page of this server.
    private static func headers(of file: FileRecord, tag: String) -> HTTPFields {
        [
            .eTag: tag, .acceptRanges: "bytes", .contentType: file.contentType, .cacheControl: "private, no-transform",
            .contentDisposition: "attachment", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
    }

    /// Returns the body that sends a part of a file in chunks. A chunk is read once the previous one was accepted.
    private func body(
        _ download: UsedFile,
        _ part: Range<Int>,
        _ request: OperationRequest
    ) async throws -> ResponseBody {
        let channel = request.context.channel
        let app = try await self.store.app(id: download.app)?.bundleID
        // If all clients have the address of a proxy, the signature in the URL identifies the reader.
        let identity = BudgetCaller.Identity(ofReaderOn: channel) ?? .name(request.query["signature"] ?? "")
        let client = BudgetCaller(app: app, identity)
        let open = try self.downloads.begin(app: download.app, for: client)
        let reader: FileReader
        do {
            reader = try await FileReader(
                path: self.folder.path(of: download.file.hash),
                size: download.file.size,
                part: part
            )
        } catch {
            self.logger.error("file cannot be read", metadata: ["file": "\(download.file.hash)", "error": "\(error)"])
            self.files.noteMissing(download)
            let message = "the provider has lost the content of this file: its publisher has to restore or upload it"
            throw RetryLaterError(
                RequestError(.unavailable, code: "file_missing", message: message, path: "file"),
                after: .seconds(300)
            )
        }
        // The URL was signed for a caller with a key, so the connection is assigned to the app. Requests without a
        // permit from the budget of downloads, such as HEAD, do not change the connection's account. The connection is
        // charged to the reader's network, because a reader can get any number of signed URLs.
        try self.connections.assign(channel, to: BudgetCaller(app: app, from: channel) ?? client)
        return ResponseBody(contentLength: part.count) { writer in
            var reader = reader
            while !reader.rest.isEmpty {
                // If a client disconnects, its permit is released immediately, however long the next chunk would wait.
                let length = try await open.reserve(left: reader.rest.count) { delay in
                    try await channel.withClientConnected { try await Task.sleep(for: delay, clock: .continuous) }
                }
                let piece = try await reader.next(length)
                let count = piece.readableBytes
                try await writer.write(piece)
                try await channel.untilWrittenPartsAreTaken()
                open.sent(count)
            }
            try await writer.finish(nil)
            open.end()
        }
    }
}

extension BudgetCaller.Identity {
    /// Creates the identity of a reader without a credential, to whom downloads are charged. It is the reader's
    /// network. Returns `nil` behind a proxy on the same machine, where all readers have the address of the proxy.
    init?(ofReaderOn channel: any Channel) {
        // For an HTTP/2 stream, the address is that of its connection.
        guard let address = channel.remoteAddress ?? channel.parent?.remoteAddress,
            !address.isOfLocalProxy
        else { return nil }
        self = .network(address.network)
    }
}
