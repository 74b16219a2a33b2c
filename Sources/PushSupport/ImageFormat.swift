/// An image format that iOS and browsers can show, recognized by the first bytes of a file.
package enum ImageFormat: String, CaseIterable, Hashable, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webP = "image/webp"
    case heic = "image/heic"
    case avif = "image/avif"

    /// The number of bytes at the start of a file that are enough to recognize its format.
    package static let recognizedLength = 32
    /// The names of all formats, for error messages.
    package static let names = "PNG, JPEG, GIF, WebP, HEIC or AVIF"

    /// Recognizes the format of a file, or returns `nil` for any other format.
    /// - Parameter beginning: The first ``recognizedLength`` bytes of the file, or the whole file.
    package init?(_ beginning: [UInt8]) {
        func has(_ text: String, at offset: Int = 0) -> Bool {
            beginning.dropFirst(offset).starts(with: Array(text.utf8))
        }
        if beginning.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if beginning.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if has("GIF87a") || has("GIF89a") {
            self = .gif
        } else if has("RIFF"), has("WEBP", at: 8) {
            self = .webP
        } else if has("ftyp", at: 4) {
            // The major brand of ISO base media files (ISO/IEC 23008-12, annex B).
            switch String(decoding: beginning.dropFirst(8).prefix(4), as: UTF8.self) {
            case "heic", "heix", "mif1", "msf1": self = .heic
            case "avif", "avis": self = .avif
            default: return nil
            }
        } else {
            return nil
        }
    }
}
