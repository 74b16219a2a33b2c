#if PostgreSQL
/// A statement of the store, translated into the SQL of PostgreSQL.
///
/// Parameters (`?`, `?3` and `:name`) become `$n`, with the numbers that SQLite gives them. The hints `INDEXED BY` and
/// `CROSS` are removed. `IS` between values becomes `IS NOT DISTINCT FROM`, blob literals are written for PostgreSQL, and
/// a shifted number has 64 bits. Strings, quoted identifiers and comments stay as they are. Any text is translated, also
/// one that is no SQL: the server judges it.
struct PostgreSQLText: Sendable {
    /// The maximum number of a parameter in PostgreSQL's protocol.
    static let maximumParameter = 65_535

    let sql: String
    /// The largest number of a parameter.
    let parameterCount: Int
    private let parameters: Set<Int>
    private let names: [String: Int32]
    private let spellings: [String: String]
    private let columns: [String: String]

    /// Translates a statement.
    /// - Parameter columns: The known names of columns by their names in lower case, for `SELECT *`.
    init(_ text: String, columns: [String: String] = [:]) {
        var translation = PostgreSQLTranslation(text)
        translation.run()
        self.sql = String(decoding: translation.output, as: UTF8.self)
        (self.parameters, self.parameterCount) = (translation.parameters, translation.highest)
        (self.names, self.spellings, self.columns) = (translation.names, translation.spellings, columns)
    }

    func position(of name: String) -> Int32? { self.names[name] }

    /// Returns whether the text has the parameter. SQLite counts the numbers that it leaves out as well.
    func hasParameter(_ number: Int) -> Bool { self.parameters.contains(number) }

    /// Returns the name of a column as the store spells it. PostgreSQL folds names to lower case.
    func columnName(_ folded: String) -> String { self.spellings[folded] ?? self.columns[folded] ?? folded }
}

/// The pass over a statement that translates it, byte by byte.
private struct PostgreSQLTranslation {
    /// The words that are reserved in PostgreSQL, and names in the store.
    private static let quotedWords: Set<String> = ["user"]
    /// The words that make a test of PostgreSQL out of `IS`.
    private static let tests: Set<String> = ["null", "true", "false", "unknown", "distinct"]

    private let bytes: [UInt8]
    private var position = 0
    private(set) var output: [UInt8] = []
    private(set) var parameters: Set<Int> = []
    private(set) var highest = 0
    private(set) var names: [String: Int32] = [:]
    /// The names with capital letters, by their names in lower case.
    private(set) var spellings: [String: String] = [:]
    /// The last word in lower case, and its start in ``output``, if only blanks follow it.
    private var lastWord: (word: String, start: Int)?

    init(_ text: String) {
        // libpq would end the text at a NUL.
        self.bytes = text.utf8.map { $0 == 0 ? UInt8(ascii: " ") : $0 }
        self.output.reserveCapacity(self.bytes.count + 16)
    }

    mutating func run() {
        while let byte = self.byte(at: self.position) {
            let next = self.byte(at: self.position + 1)
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""): self.copy(through: self.quotedEnd(self.position))
            case UInt8(ascii: "-") where next == byte: self.copy(through: self.lineEnd())
            case UInt8(ascii: "/") where next == UInt8(ascii: "*"): self.copy(through: self.commentEnd())
            case UInt8(ascii: "?"): self.translateNumber()
            case UInt8(ascii: ":"): self.translateName()
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                self.translateLiteral()
            case _ where Self.isWord(byte): self.translateWord()
            case _ where Self.isBlank(byte):
                self.output.append(byte)
                self.position += 1
            default: self.copy(through: self.position + 1)
            }
        }
    }

    private func byte(at position: Int) -> UInt8? { position < self.bytes.count ? self.bytes[position] : nil }

    private mutating func copy(through end: Int) {
        self.output += self.bytes[self.position..<end]
        (self.position, self.lastWord) = (end, nil)
    }

    private mutating func write(_ text: String, through end: Int) {
        self.output += text.utf8
        (self.position, self.lastWord) = (end, nil)
    }

    // The ends of tokens.

    private func end(_ start: Int, while isPart: (UInt8) -> Bool) -> Int {
        var end = start
        while let byte = self.byte(at: end), isPart(byte) { end += 1 }
        return end
    }

    /// Returns the end of the string or the quoted identifier that begins at a position. A quote in it is doubled.
    private func quotedEnd(_ start: Int) -> Int {
        let quote = self.bytes[start]
        var end = start + 1
        while let byte = self.byte(at: end) {
            end += 1
            guard byte == quote else { continue }
            guard self.byte(at: end) == quote else { return end }
            end += 1
        }
        return end
    }

    private func lineEnd() -> Int { self.end(self.position) { $0 != UInt8(ascii: "\n") } }

    private func commentEnd() -> Int {
        var end = self.position + 2
        while let byte = self.byte(at: end) {
            end += 1
            if byte == UInt8(ascii: "*"), self.byte(at: end) == UInt8(ascii: "/") { return end + 1 }
        }
        return end
    }

    /// Translates a number. One that is shifted has 64 bits, as all integers of SQLite.
    private mutating func translateLiteral() {
        self.copy(through: self.end(self.position) { Self.isWord($0) || $0 == UInt8(ascii: ".") })
        let next = self.end(self.position, while: Self.isBlank)
        let less = UInt8(ascii: "<")
        if self.byte(at: next) == less, self.byte(at: next + 1) == less { self.output += "::bigint".utf8 }
    }

    // Parameters.

    /// Translates `?` or `?3`. A number beyond the protocol's maximum is left to the server to reject.
    private mutating func translateNumber() {
        let start = self.position + 1
        let end = self.end(start) { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let digits = self.bytes[start..<end]
        let number = digits.isEmpty ? self.highest + 1 : Int(String(decoding: digits, as: UTF8.self))
        guard let number, (1...PostgreSQLText.maximumParameter).contains(number) else { return self.copy(through: end) }
        self.writeParameter(number, through: end)
    }

    /// Translates `:name`. A cast (`::`) is copied.
    private mutating func translateName() {
        let start = self.position + 1
        if self.byte(at: start) == UInt8(ascii: ":") { return self.copy(through: start + 1) }
        let end = self.end(start, while: Self.isWord)
        guard end > start else { return self.copy(through: end) }
        let name = String(decoding: self.bytes[start..<end], as: UTF8.self)
        let number = self.names[name].map(Int.init) ?? self.highest + 1
        guard number <= PostgreSQLText.maximumParameter else { return self.copy(through: end) }
        self.names[name] = Int32(number)
        self.writeParameter(number, through: end)
    }

    private mutating func writeParameter(_ number: Int, through end: Int) {
        self.parameters.insert(number)
        self.highest = max(self.highest, number)
        self.write("$\(number)", through: end)
    }

    // Words.

    private mutating func translateWord() {
        let (start, end) = (self.position, self.end(self.position, while: Self.isWord))
        let word = String(decoding: self.bytes[start..<end], as: UTF8.self)
        let folded = word.lowercased()
        if folded == "x", self.byte(at: end) == UInt8(ascii: "'") { return self.translateBlob(quote: end) }
        if folded == "indexed", let hintEnd = self.hintEnd(after: end) {
            // Before it is a blank, and also what follows is a token of its own.
            if let lastWord, lastWord.word == "not" { self.output.removeSubrange(lastWord.start...) }
            (self.position, self.lastWord) = (hintEnd, nil)
            return
        }
        if folded == "cross", self.word(after: end).word == "join" { return self.position = end }
        if folded == "is", let operatorEnd = self.comparisonEnd(after: end) { return self.position = operatorEnd }
        let isAlias = self.lastWord?.word == "as"
        if isAlias || word != folded && word != word.uppercased() && self.spellings[folded] == nil {
            self.spellings[folded] = word
        }
        let last = (folded, self.output.count)
        self.write(Self.quotedWords.contains(word) ? "\"\(word)\"" : word, through: end)
        self.lastWord = last
    }

    /// Returns the word after blanks in lower case, which may be empty, and its end.
    private func word(after end: Int) -> (word: String, end: Int) {
        let start = self.end(end, while: Self.isBlank)
        let end = self.end(start, while: Self.isWord)
        return (String(decoding: self.bytes[start..<end], as: UTF8.self).lowercased(), end)
    }

    /// Writes the comparison of two values for `IS` or `IS NOT`.
    /// - Returns: The end of these words; `nil` for an `IS` that PostgreSQL knows, such as `IS NULL`, and for a last one.
    private mutating func comparisonEnd(after end: Int) -> Int? {
        let next = self.word(after: end)
        let (isNegated, operatorEnd) = next.word == "not" ? (true, next.end) : (false, end)
        let operand = self.end(operatorEnd, while: Self.isBlank)
        guard operand < self.bytes.count, !Self.tests.contains(self.word(after: operatorEnd).word) else { return nil }
        self.write(isNegated ? "IS DISTINCT FROM" : "IS NOT DISTINCT FROM", through: operatorEnd)
        return operatorEnd
    }

    /// Returns the end of `INDEXED BY name` or `NOT INDEXED` after the word `INDEXED`; `nil` if it is neither.
    private func hintEnd(after end: Int) -> Int? {
        if self.lastWord?.word == "not" { return end }
        let (by, byEnd) = self.word(after: end)
        guard by == "by" else { return nil }
        let name = self.end(byEnd, while: Self.isBlank)
        if self.byte(at: name) == UInt8(ascii: "\"") { return self.quotedEnd(name) }
        let nameEnd = self.end(name, while: Self.isWord)
        return nameEnd > name ? nameEnd : nil
    }

    /// Translates `x'00ff'`. Anything else than pairs of hexadecimal digits is copied.
    private mutating func translateBlob(quote: Int) {
        let end = self.quotedEnd(quote)
        let digits = self.bytes[(quote + 1)..<max(quote + 1, end - 1)]
        let isHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard isHexadecimal, digits.count.isMultiple(of: 2), self.bytes[end - 1] == UInt8(ascii: "'"), end > quote + 1
        else { return self.copy(through: end) }
        self.write("'\\x\(String(decoding: digits, as: UTF8.self))'::bytea", through: end)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"), 0x0C].contains(byte)
    }
}
#endif
