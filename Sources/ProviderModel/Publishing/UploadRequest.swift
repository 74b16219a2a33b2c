package import PushSupport

/// The request that begins the upload of a file.
package struct UploadRequest: Sendable {
    /// The maximum lengths of a content type and of a name, in bytes.
    package static let (maximumType, maximumName) = (128, 256)
    /// The content type of a file whose upload names none.
    package static let plainType = "application/octet-stream"

    /// The regular expression of a media type without parameters.
    private static let mediaType = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$"

    /// Returns whether a text is a media type without parameters.
    package static func isMediaType(_ text: String) -> Bool {
        text.wholeMatch(of: #/[A-Za-z0-9!#$&^_.+\-]+\/[A-Za-z0-9!#$&^_.+\-]+/#) != nil
    }

    package static let hash = Member.contentHash("sha256")
    package static let contentType = Member.text(
        "contentType",
        maximum: Self.maximumType,
        as: .string(length: 3...Self.maximumType, pattern: Self.mediaType)
    ).described("Default application/octet-stream.")
        .checked("invalid_value", "use a media type such as application/zip") { Self.isMediaType($0) }
    package static let name = Member.text("name", 1...Self.maximumName).described("Default the hash.")

    /// The member with the length of a file. A file that is too long is rejected when its upload begins.
    package let size: RequestMember<Int64>
    package let object: RequestObject

    /// Creates the description of the request that begins an upload.
    /// - Parameter maximumFile: The maximum length of a file, in bytes.
    package init(maximumFile: Int) {
        self.size = Member.integer("size", Int64.min...Int64.max, as: .integer(1...Int64(maximumFile)))
            .checked("invalid_value", "use 1 to \(maximumFile) bytes") { $0 >= 1 }
        self.object = RequestObject(required: [self.size, Self.hash], optional: [Self.contentType, Self.name])
    }
}
