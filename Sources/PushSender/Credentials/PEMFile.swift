/// The blocks of a PEM file (RFC 7468). Text between them, such as the attributes that OpenSSL writes, is skipped.
struct PEMFile {
    /// A block of the file: a certificate or a key.
    struct Block {
        var label: String
        var text: String

        var isCertificate: Bool { self.label == "CERTIFICATE" || self.label == "X509 CERTIFICATE" }
        var isPrivateKey: Bool { self.label.hasSuffix("PRIVATE KEY") }
        /// A Boolean value that indicates whether the block requires a passphrase, because it is encrypted PKCS#8 or in
        /// OpenSSL's older encrypted form (RFC 1421).
        var isEncrypted: Bool { self.label == "ENCRYPTED PRIVATE KEY" || self.text.contains("Proc-Type: 4,ENCRYPTED") }
    }

    private static let byteOrderMark: Character = "\u{FEFF}"

    let blocks: [Block]

    var certificates: [Block] { self.blocks.filter(\.isCertificate) }
    var privateKeys: [Block] { self.blocks.filter(\.isPrivateKey) }

    /// Parses the blocks of a text whose lines end with LF, CR LF or CR. A block without an end is omitted. Two blocks
    /// may share a line, as in files that were concatenated without a line break between them.
    init(_ text: String) {
        var blocks: [Block] = []
        var label: String?
        var lines: [String] = []
        let separated = text.replacing("----------BEGIN ", with: "-----\n-----BEGIN ")
        for line in separated.split(whereSeparator: \.isNewline).map(Self.trimmed) {
            if let name = Self.label(line, "BEGIN") {
                label = name
                lines = []
            }
            guard let name = label else { continue }
            lines.append(line)
            if Self.label(line, "END") == name {
                blocks.append(Block(label: name, text: Self.joined(lines)))
                label = nil
            }
        }
        self.blocks = blocks
    }

    /// Returns the label in `-----BEGIN label-----`, or `nil` for any other line.
    /// - Parameter boundary: The word before the label: `BEGIN` or `END`.
    private static func label(_ line: String, _ boundary: String) -> String? {
        let (prefix, suffix) = ("-----\(boundary) ", "-----")
        guard line.hasPrefix(prefix), line.hasSuffix(suffix), line.count > prefix.count + suffix.count else {
            return nil
        }
        return String(line.dropFirst(prefix.count).dropLast(suffix.count))
    }

    private static func trimmed(_ line: Substring) -> String {
        let isBlank = { (character: Character) in character.isWhitespace || character == Self.byteOrderMark }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return String(line)
    }

    /// Returns the text of a block's lines with the empty line restored after the header of a key in the older
    /// encrypted form.
    private static func joined(_ lines: [String]) -> String {
        var text = ""
        for line in lines {
            text += line + "\n"
            if line.hasPrefix("DEK-Info:") { text += "\n" }
        }
        return text
    }
}
