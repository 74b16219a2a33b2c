import Foundation
import HTTPTypes
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations at `/v1/apps/{app}/uploads`, `/v1/uploads` and `/v1/apps/{app}/files`, which receive files in one
/// request or in several. Header fields and methods follow the draft "Resumable Uploads for HTTP". docs/publishing.md
/// describes them.
struct UploadsController: Controller {
    /// The content types of a body with a part of a file: that of the draft, and plain bytes.
    private static let partTypes = ["application/partial-upload", "application/octet-stream"]
    let store: any AppStore & FileStore
    let uploads: UploadService
    let maximumFile: Int
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (all, one) = ("/v1/apps/{app}/uploads", "/v1/uploads/{upload}")
        let offset = ParameterDescription.header(
            "upload-offset",
            "The position of the first byte.",
            .integer(0...Int64.max)
        )
        let part = BodyDescription(
            .string(),
            maximum: self.maximumFile,
            contentTypes: Self.partTypes,
            stream: StreamedBody(minimumBytes: 16 * 1024)
        )
        let name = ParameterDescription.query(
            "name",
            "Default: its hash.",
            .string(length: 1...UploadRequest.maximumName)
        )
        let whole = BodyDescription(
            .string(),
            maximum: self.maximumFile,
            contentTypes: ["application/octet-stream", "application/zip", "image/png"],
            stream: StreamedBody(minimumBytes: 16 * 1024)
        )
        let shown = ResponseDescription.ok(UploadResponse.schema)
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listUploads", self.list)
                .summary("The app's uploads that are not complete, the one with the latest bytes first.")
                .scope(.read).responses(.ok(.list("uploads", of: UploadResponse.schema))),
            .init(.post, all, .audited, id: "beginUpload", self.begin)
                .summary("Begins the upload of a file; one that the app has already is complete at once.")
                .scope(.send).body(UploadRequest(maximumFile: self.maximumFile).object.schema)
                .responses(.created(UploadResponse.schema))
                .errors(.conflict, .unavailable),
            .init(.get, one, id: "showUpload", "One upload.", self.show).scope(.read).responses(shown),
            .init(.head, one, id: "uploadOffset", "The position of the next byte, as a field.", self.offset)
                .scope(.send)
                .responses(ResponseDescription(status: 204, "See the fields.", headers: UploadField.descriptions)),
            .init(.patch, one, .unaudited, id: "continueUpload", "Adds bytes to an upload.", self.receive)
                .scope(.send).parameters(offset).body(part).responses(shown)
                .errors(.conflict, .unsupportedType, .unavailable),
            .init(.delete, one, .audited, id: "deleteUpload", "Ends an upload; a complete file stays.", self.delete)
                .scope(.send).responses(.noContent).errors(.conflict),
            .init(.post, "/v1/apps/{app}/files", .audited, id: "uploadFile", self.receiveWhole)
                .summary("Uploads a whole file in one request. Of one that is broken off nothing is kept.")
                .scope(.send).parameters(name).body(whole).responses(.created(FileResponse.schema))
                .errors(.conflict, .unavailable),
            .init(.get, "/v1/apps/{app}/files", id: "listFiles", "The app's files.", self.files)
                .scope(.read)
                .parameters(.query("after", "The hash of the last file of the page before.", .contentHash), .limit())
                .responses(.ok(.page("files", of: FileResponse.schema))).reservingPage(ofEntries: 256),
        ]
        return operations.map { $0.tag(.publishing) }
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .page("uploads", try await self.store.openUploads(app: app.id).map(UploadResponse.init))
    }

    private func begin(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let wanted = UploadRequest(maximumFile: self.maximumFile)
        let fields = try await request.fields(wanted.object)
        let (size, hash) = (try fields.required(wanted.size), try fields.required(UploadRequest.hash))
        let type = try fields.value(UploadRequest.contentType)
        let upload = UploadRecord(
            id: UUID(),
            app: app.id,
            size: Int(size),
            hash: hash,
            contentType: type ?? UploadRequest.plainType,
            name: try fields.value(UploadRequest.name) ?? hash.hex,
            createdAt: self.time.recorded
        )
        request.made(upload.id)
        return try await Self.named(ifFull: "the upload is not begun") {
            let begun = try await self.uploads.begin(upload)
            var headers = UploadField.fields(of: begun)
            headers[.location] = "/v1/uploads/\(begun.id.uuidString)"
            return try .json(UploadResponse(upload: begun), status: .created, headers: headers)
        }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let upload = try await request.object("upload") { try await self.store.upload($0) }
        return try .json(UploadResponse(upload: upload), headers: UploadField.fields(of: upload))
    }

    private func offset(_ request: OperationRequest) async throws -> Response {
        let upload = try await request.object("upload") { try await self.store.upload($0) }
        var headers = UploadField.fields(of: upload)
        headers[.cacheControl] = "no-store"
        return Response(status: .noContent, headers: headers)
    }

    /// Appends the bytes of the body to an upload. The last byte of the file completes the upload. Until then, the
    /// response contains the number of bytes received.
    private func receive(_ request: OperationRequest) async throws -> Response {
        let upload = try await request.object("upload") { try await self.store.upload($0) }
        let headers = request.http.headers
        guard let type = headers[.contentType], Self.partTypes.contains(where: { type.lowercased().hasPrefix($0) })
        else { throw RequestError.unsupportedContentType(Self.partTypes.joined(separator: " or ")) }
        guard let text = headers[UploadField.offset], let offset = Int(text), offset >= 0, text == "\(offset)" else {
            throw RequestError.invalid("upload-offset", "send the position of the first byte, as HEAD returns it")
        }
        guard upload.completedAt == nil else {
            let message = "the upload is complete, and takes no more bytes: its file can be used"
            return .error(.conflict("upload_complete", message), headers: UploadField.fields(of: upload))
        }
        let body = UploadBody(
            request.http.body,
            maximum: max(0, upload.size - offset),
            announced: headers[.contentLength].flatMap { Int($0) },
            tooLong: "the upload was begun with \(upload.size) bytes, and more were sent"
        )
        return try await Self.named(ifFull: "what has arrived is kept") {
            let changed = try await self.uploads.receive(upload.id, at: offset, body)
            return try .json(UploadResponse(upload: changed), headers: UploadField.fields(of: changed))
        }
    }

    /// Stores the body as a file of the app. The response contains the hash of the file.
    private func receiveWhole(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let name = try request.value(
            "name",
            { (1...UploadRequest.maximumName).contains($0.utf8.count) ? $0 : nil },
            orThrow: .invalid("name", "use 1 to \(UploadRequest.maximumName) bytes")
        )
        let type = request.http.headers[.contentType].map { $0.prefix { $0 != ";" }.filter { $0 != " " } } ?? ""
        let announced = request.http.headers[.contentLength].flatMap { Int($0) }
        let file = NewFile(
            app: app.id,
            name: name ?? "",
            contentType: type.utf8.count <= UploadRequest.maximumType && UploadRequest.isMediaType(type)
                ? type : UploadRequest.plainType,
            announcedSize: announced
        )
        let body = UploadBody(request.http.body, maximum: .max, announced: announced)
        return try await Self.named(ifFull: "nothing of the file is kept") {
            try .json(FileResponse(file: try await self.uploads.receive(file, body)), status: .created)
        }
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let id = try await request.object("upload") { try await self.store.upload($0) }.id
        return try await Self.named(ifFull: "the upload stays") {
            guard try await self.uploads.remove(id) else { throw RequestError.noSuch("upload") }
            return .noContent
        }
    }

    private func files(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let form = "use the member next of the page before, or leave it out to begin"
        let after = try request.value("after", { ContentHash(hex: $0) }, orThrow: .invalid("after", form))
        let limit = try request.limit()
        let files = try await self.store.files(app: app.id, after: after, limit: limit)
        let next = files.count == limit ? files.last?.hash.hex : nil
        return try .page("files", files.map(FileResponse.init), next: next)
    }

    /// Runs `body`, and converts its failure to store an upload into a response.
    /// - Parameter consequence: The text of the error message about the consequence of a full disk for the file.
    private static func named(
        ifFull consequence: String,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch let failure as UploadFailure {
            return failure.response(ifFull: consequence)
        }
    }
}

extension UploadFailure {
    /// Returns the response to the request that failed with this error.
    /// - Parameter consequence: The text of the error message about the consequence of a full disk for the file.
    fileprivate func response(ifFull consequence: String) -> Response {
        switch self {
        case .missing: return .error(.noSuch("upload"))
        case .busy:
            let message = "another request sends bytes of this upload: wait until it has ended, then ask for the offset"
            return .error(.conflict("upload_in_progress", message), headers: [.retryAfter: "1"])
        case .wrongOffset(let present):
            let message = "the next byte has the position \(present): continue from there"
            return .error(
                .conflict("wrong_offset", message, at: "upload-offset"),
                headers: [UploadField.offset: "\(present)"]
            )
        case .wrongHash:
            let message = "the bytes have another SHA-256 than the upload was begun with: send all of them again"
            let error = RequestError(.invalid, code: "wrong_hash", message: message, path: "sha256")
            return .error(error, headers: [UploadField.offset: "0"])
        case .full(let reason):
            let message = "the disk of the provider is full (\(reason)): \(consequence)"
            let error = RequestError(.unavailable, code: "storage_full", message: message)
            return .error(error, headers: [.retryAfter: "60"])
        case .unwritable:
            let message = "the provider cannot write the file; its log has the cause"
            let error = RequestError(.unavailable, code: "storage_unavailable", message: message)
            return .error(error, headers: [.retryAfter: "5"])
        }
    }
}

/// The response object for an upload, with the number of received bytes.
private struct UploadResponse: ResponseObject {
    let upload: UploadRecord

    private var isComplete: Bool { self.upload.completedAt != nil }

    static let schemaName: String? = "Upload"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.upload.id),
        .required("size", \.upload.size, "In bytes."),
        .required("sha256", \.upload.hash.hex, as: .contentHash),
        .required("contentType", \.upload.contentType),
        .required("name", \.upload.name),
        .required("offset", \.upload.received, "The position of the next byte: what is before it is on disk."),
        .required("complete", \.isComplete, "true once all bytes are there and their SHA-256 is right."),
        .required("createdAtMs", \.upload.createdAt),
        .required("changedAtMs", \.upload.changedAt),
    ]
}

/// The header fields of requests and responses about uploads: offset, length and completeness.
private enum UploadField {
    // The names are those of the draft. The fallback is never used, because they are valid.
    static let offset = HTTPField.Name("upload-offset") ?? .range
    private static let complete = HTTPField.Name("upload-complete") ?? .range
    private static let length = HTTPField.Name("upload-length") ?? .range

    static let descriptions = [
        "upload-offset": "The position of the next byte.", "upload-complete": "?1 for a complete file, else ?0.",
        "upload-length": "The size of the file.",
    ]

    static func fields(of upload: UploadRecord) -> HTTPFields {
        [
            self.offset: "\(upload.received)", self.length: "\(upload.size)",
            self.complete: upload.completedAt == nil ? "?0" : "?1",
        ]
    }
}
