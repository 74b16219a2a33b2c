#if PostgreSQL
/// The statements of a migration (``SQLSchema``), translated into definitions of PostgreSQL.
///
/// - A column of integers is a `bigint`, one of bytes a `bytea`, and a text is compared by its bytes. An `INTEGER PRIMARY
///   KEY` is assigned by the database.
/// - `STRICT` and `WITHOUT ROWID` are removed: PostgreSQL always checks types, and has no other kind of table.
/// - A trigger becomes a function and a trigger that calls it.
/// - Comments are removed.
struct PostgreSQLDefinition {
    /// The commands, in their order.
    private(set) var commands: [String] = []

    /// Translates the statements of a migration.
    /// - Parameter isFirst: Whether all tables are still empty. Statements that only change existing rows are left out.
    init(_ text: String, isFirst: Bool) {
        for statement in PostgreSQLDefinition.statements(text) {
            switch (statement.first, statement.dropFirst().first) {
            case ("CREATE", "TRIGGER"): self.commands += Self.trigger(statement)
            case ("CREATE", _) where statement.contains("deviceAttribute"):
                if statement[1] == "TABLE" { self.commands += Self.attributes }
            case ("CREATE", "TABLE"), ("ALTER", "TABLE"):
                self.commands.append(Self.text(Self.numbered(Self.table(statement))))
            case ("UPDATE", _) where isFirst, ("DELETE", _) where isFirst: continue
            default: self.commands.append(Self.text(statement))
            }
        }
        self.commands = self.commands.map { PostgreSQLText($0).sql }
    }

    // Statements and their tokens.

    /// Returns the statements of a text as tokens: words, numbers, strings and single other characters.
    private static func statements(_ text: String) -> [[Substring]] {
        var (statements, statement): ([[Substring]], [Substring]) = ([], [])
        var isTrigger: Bool { statement.prefix(2) == ["CREATE", "TRIGGER"] }
        for token in self.tokens(text) {
            guard token == ";", !isTrigger || statement.last == "END" else {
                statement.append(token)
                continue
            }
            if !statement.isEmpty { statements.append(statement) }
            statement = []
        }
        return statement.isEmpty ? statements : statements + [statement]
    }

    private static func tokens(_ text: String) -> [Substring] {
        var (rest, tokens): (Substring, [Substring]) = (text[...], [])
        while let first = rest.first {
            let end: String.Index
            if first.isWhitespace {
                rest.removeFirst()
                continue
            } else if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
                continue
            } else if first == "'" {
                end = rest.dropFirst().firstIndex(of: "'").map(rest.index(after:)) ?? rest.endIndex
            } else if self.isWord(first) {
                end = rest.firstIndex { !self.isWord($0) } ?? rest.endIndex
            } else {
                end = rest.index(after: rest.startIndex)
            }
            tokens.append(rest[..<end])
            rest = rest[end...]
        }
        return tokens
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    /// Joins tokens. Operators of several characters stay together, and a string follows a quote that it doubles.
    private static func text(_ tokens: some Sequence<Substring>) -> String {
        var (text, last): (String, Substring) = ("", "")
        for token in tokens {
            let isOperator = ["<>", "<=", ">=", "!=", "||", "<<", ">>"].contains("\(last)\(token)")
            let isJoined = isOperator || token == "." || last == "." || last.hasSuffix("'") && token.hasPrefix("'")
            text += text.isEmpty || isJoined ? token : " \(token)"
            last = token
        }
        return text
    }

    // Tables.

    /// Translates the types and the options of a table.
    private static func table(_ statement: [Substring]) -> [Substring] {
        var (result, position): ([Substring], Int) = ([], 0)
        func next(_ words: Substring...) -> Bool { statement[position...].starts(with: words) }
        while position < statement.count {
            if next("INTEGER", "PRIMARY", "KEY") {
                result += ["bigint", "GENERATED", "BY", "DEFAULT", "AS", "IDENTITY", "PRIMARY", "KEY"]
                position += 3
            } else if next("TEXT", "COLLATE", "NOCASE") {
                result += ["text", "COLLATE", "nocase"]
                position += 3
            } else if next("WITHOUT", "ROWID") {
                position += 2
            } else {
                switch statement[position] {
                case "INTEGER": result.append("bigint")
                case "REAL": result += ["double", "precision"]
                case "BLOB": result.append("bytea")
                case "TEXT": result += ["text", "COLLATE", "\"C\""]
                case "AUTOINCREMENT", "STRICT": break
                // Only between the options of a table does a comma follow its last parenthesis.
                case "," where result.last == ")" && Self.isOption(statement, after: position): break
                case let word: result.append(word)
                }
                position += 1
            }
        }
        return result
    }

    /// Adds a column `rowid` to the tables of whose rows the store asks the order of insertion.
    private static func numbered(_ statement: [Substring]) -> [Substring] {
        guard statement.first == "CREATE", ["session", "pushMessage"].contains(statement[2]) else { return statement }
        let number = ["rowid", "bigint", "GENERATED", "ALWAYS", "AS", "IDENTITY", ","] as [Substring]
        return statement[..<4] + number + statement[4...]
    }

    private static func isOption(_ statement: [Substring], after comma: Int) -> Bool {
        ["STRICT", "WITHOUT"].contains(statement.dropFirst(comma + 1).first)
    }

    /// The table of attributes, whose values have a column for each type (``AttributeColumns``).
    private static let attributes =
        [
            """
            CREATE TABLE deviceAttribute (
                app bigint NOT NULL, name text COLLATE "C" NOT NULL,
                text text COLLATE "C", number double precision, flag bigint,
                device bigint NOT NULL REFERENCES device (id) ON DELETE CASCADE,
                PRIMARY KEY (device, app, name), CHECK (num_nonnulls(text, number, flag) = 1)
            )
            """,
            "CREATE INDEX attributeByName ON deviceAttribute (app, name, device)",
        ]
        + ["text", "number", "flag"].map { column in
            """
            CREATE INDEX attributeBy\(column) ON deviceAttribute (app, name, \(column), device)
            WHERE \(column) IS NOT NULL
            """
        }

    // Triggers.

    /// Translates `CREATE TRIGGER name AFTER … ON table [WHEN …] BEGIN …; END`. The condition ends at `BEGIN`.
    private static func trigger(_ statement: [Substring]) -> [String] {
        guard let begin = statement.firstIndex(of: "BEGIN"), let name = statement.dropFirst(2).first else { return [] }
        var head = Array(statement[..<begin])
        var arguments = ["EXECUTE", "FUNCTION", name, "(", ")"] as [Substring]
        if let when = head.firstIndex(of: "WHEN") {
            arguments = ["WHEN", "("] + head[(when + 1)...] + [")"] + arguments
            head.removeSubrange(when...)
        }
        let body = self.text(self.qualified(Array(statement[(begin + 1)...].dropLast())))
        return [
            "CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body) RETURN NULL; END $$",
            self.text(head + ["FOR", "EACH", "ROW"] + arguments),
        ]
    }

    /// Adds the table to columns of the existing row in `DO UPDATE SET`, which PostgreSQL takes for ambiguous.
    private static func qualified(_ body: [Substring]) -> [Substring] {
        var (result, table): ([Substring], Substring) = ([], "")
        var (isUpsert, isTarget, depth) = (false, false, 0)
        for (index, token) in body.enumerated() {
            let next = body.dropFirst(index + 1).first ?? ""
            switch token {
            case ";": isUpsert = false
            case "(": depth += 1
            case ")": depth -= 1
            case "SET" where result.suffix(2) == ["DO", "UPDATE"]: (isUpsert, isTarget, depth) = (true, true, 0)
            case "=", "WHERE": isTarget = false
            case "," where depth == 0: isTarget = true
            default:
                if result.last == "INTO" { table = token }
                let isColumn = token.first?.isLowercase == true && next != "." && next != "(" && result.last != "."
                if isUpsert, !isTarget, isColumn { result += [table, "."] }
            }
            result.append(token)
        }
        return result
    }
}

extension PostgreSQLDefinition {
    /// Returns the words of a text with small and capital letters by their form in lower case, which is what PostgreSQL
    /// makes of a name.
    static func spellings(_ text: String) -> [String: String] {
        let names = Set(
            self.tokens(text).filter { $0.contains(where: \.isUppercase) && $0.contains(where: \.isLowercase) }
        )
        return Dictionary(names.map { ($0.lowercased(), String($0)) }) { first, _ in first }
    }
}
#endif
