/// A file type that the system accepts as an attachment.
public enum AttachmentType: String, Hashable, Sendable, CaseIterable {
    case jpeg
    case png
    case gif
    case aiff
    case wav
    case mp3
    /// The type of audio in an MPEG-4 file.
    case m4a
    case mpeg
    /// The type of video in an MPEG-4 file.
    case mp4
    case avi

    /// The number of bytes at the start of a file that identify its type.
    static let signatureLength = 12

    /// The file name extension by which the system recognizes the type.
    public var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .mpeg: "mpg"
        case .png, .gif, .aiff, .wav, .mp3, .m4a, .mp4, .avi: self.rawValue
        }
    }

    /// Parses a declared content type such as `image/jpeg; charset=binary`. Returns `nil` for any other type.
    init?(contentType: String) {
        let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        switch type {
        case "image/jpeg", "image/jpg": self = .jpeg
        case "image/png": self = .png
        case "image/gif": self = .gif
        case "audio/aiff", "audio/x-aiff": self = .aiff
        case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave": self = .wav
        case "audio/mpeg", "audio/mp3": self = .mp3
        case "audio/mp4", "audio/m4a", "audio/x-m4a": self = .m4a
        case "video/mpeg": self = .mpeg
        case "video/mp4": self = .mp4
        case "video/avi", "video/x-msvideo", "video/vnd.avi": self = .avi
        default: return nil
        }
    }

    /// Returns whether a file that begins with these bytes is of this type.
    func matches(_ start: [UInt8]) -> Bool {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            let bytes = text.description.utf8
            return start.dropFirst(offset).prefix(bytes.count).elementsEqual(bytes)
        }
        switch self {
        case .jpeg: return start.starts(with: [0xff, 0xd8, 0xff])
        case .png: return start.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .gif: return has("GIF87a") || has("GIF89a")
        case .aiff: return has("FORM") && (has("AIFF", at: 8) || has("AIFC", at: 8))
        case .wav: return has("RIFF") && has("WAVE", at: 8)
        case .avi: return has("RIFF") && has("AVI ", at: 8)
        // An ID3 tag, or the header of an MPEG audio layer III frame.
        case .mp3: return has("ID3") || (start.count > 1 && start[0] == 0xff && start[1] & 0xe6 == 0xe2)
        // The pack header, or a sequence header.
        case .mpeg: return start.starts(with: [0, 0, 1, 0xba]) || start.starts(with: [0, 0, 1, 0xb3])
        case .m4a, .mp4: return has("ftyp", at: 4) && start.count >= 12
        }
    }
}
