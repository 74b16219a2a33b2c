/// The blocks of a PEM text; what stands between them, such as bag attributes, is skipped.
struct PEMText {
    struct Block {
        /// What stands after `BEGIN`.
        var label: String
        /// The block with its first and last line.
        var text: String

        var isCertificate: Bool { self.label == "CERTIFICATE" || self.label == "X509 CERTIFICATE" }
        var isPrivateKey: Bool { self.label.hasSuffix("PRIVATE KEY") }
        /// In PKCS#8, or the way OpenSSL did before that.
        var isEncrypted: Bool {
            self.label == "ENCRYPTED PRIVATE KEY" || self.text.contains("Proc-Type: 4,ENCRYPTED")
        }
    }

    private static let byteOrderMark: Character = "\u{FEFF}"

    let blocks: [Block]

    var certificates: [Block] { self.blocks.filter(\.isCertificate) }
    var privateKeys: [Block] { self.blocks.filter(\.isPrivateKey) }

    /// Lines may end in LF, CR LF or CR; a block without an end is left out.
    ///
    /// Files that were joined may lack the line break between two blocks.
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

    /// The name in `-----BEGIN name-----`.
    private static func label(_ line: String, _ word: String) -> String? {
        let (prefix, suffix) = ("-----\(word) ", "-----")
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

    /// Old encrypted keys need the empty line back that ends their header.
    private static func joined(_ lines: [String]) -> String {
        var text = ""
        for line in lines {
            text += line + "\n"
            if line.hasPrefix("DEK-Info:") { text += "\n" }
        }
        return text
    }
}
