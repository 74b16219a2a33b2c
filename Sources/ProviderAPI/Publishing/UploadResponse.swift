import Foundation
import HTTPTypes
import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// An upload in a response.
struct UploadResponse: ResponseObject {
    let upload: UploadRecord

    private var hash: String { self.upload.hash.hex }
    private var isComplete: Bool { self.upload.completedAt != nil }

    static let schemaName: String? = "Upload"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.upload.id),
        .required("size", \.upload.size, "In bytes."),
        .required("sha256", \.hash, as: .contentHash),
        .required("contentType", \.upload.contentType),
        .required("name", \.upload.name),
        .required("offset", \.upload.received, "The position of the next byte: what is before it is on disk."),
        .required("complete", \.isComplete, "true once all bytes are there and their SHA-256 is right."),
        .required("createdAtMs", \.upload.createdAt),
        .required("changedAtMs", \.upload.changedAt),
    ]
}

/// The fields of requests and responses about uploads.
enum UploadField {
    // The names are constants of the draft.
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
