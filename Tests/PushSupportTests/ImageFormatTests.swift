import Testing

@testable import PushSupport

/// Images by the beginning of their files.
@Suite struct ImageFormatTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]
    private static let images: [(bytes: [UInt8], format: ImageFormat)] = [
        (png, .png), ([0xff, 0xd8, 0xff, 0xe0], .jpeg), (text("GIF89a"), .gif), (text("GIF87a"), .gif),
        (text("RIFF0000WEBPVP8 "), .webP), (box("heic"), .heic), (box("avif"), .avif),
    ]
    private static let others: [[UInt8]] = [
        [], [0x89], text("PK\u{3}\u{4}"), text("%PDF-1.7"), text("<svg xmlns"), text("<html>"), text("RIFF0000WAVE"),
        box("isom"), box(""),
    ]

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// The beginning of a file of the ISO base media format.
    private static func box(_ brand: String) -> [UInt8] { [0, 0, 0, 24] + Self.text("ftyp" + brand) }

    @Test func anImageIsRecognized() {
        for image in Self.images { #expect(ImageFormat(image.bytes) == image.format) }
    }

    @Test func anythingElseIsNone() {
        for bytes in Self.others { #expect(ImageFormat(bytes) == nil) }
    }
}
