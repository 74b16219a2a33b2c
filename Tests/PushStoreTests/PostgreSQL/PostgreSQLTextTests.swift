#if PostgreSQL
import Testing

@testable import PushStore

/// The translation of the store's statements.
@Suite struct PostgreSQLTextTests {
    @Test(arguments: [
        ("", ""),
        ("SELECT ?, ?", "SELECT $1, $2"),
        ("SELECT ?2, ?, ?1", "SELECT $2, $3, $1"),
        ("SELECT :id, ?, :id, :name", "SELECT $1, $2, $1, $3"),
        ("SELECT a::text, b :: int, c: d", "SELECT a::text, b :: int, c: d"),
        ("SELECT '?', ':id', '''?', \"a?\"\"?\" -- ?\n, ?", "SELECT '?', ':id', '''?', \"a?\"\"?\" -- ?\n, $1"),
        ("SELECT /* ? ' */ ? /**/ ?", "SELECT /* ? ' */ $1 /**/ $2"),
        ("SELECT ??", "SELECT $1$2"),
        ("SELECT 1 - ? --", "SELECT 1 - $1 --"),
        ("SELECT ?0, ?65536, ?99999999999999999999", "SELECT ?0, ?65536, ?99999999999999999999"),
        ("SELECT * FROM t INDEXED BY t_by_a WHERE b", "SELECT * FROM t  WHERE b"),
        ("SELECT * FROM t indexed\n by \"a b\"(", "SELECT * FROM t ("),
        ("SELECT * FROM t NOT INDEXED, indexed", "SELECT * FROM t , indexed"),
        ("SELECT indexed, b FROM t", "SELECT indexed, b FROM t"),
        ("SELECT x'00fF', X''", "SELECT '\\x00fF'::bytea, '\\x'::bytea"),
        ("SELECT x'0', x'zz', x'00''00', max'00'", "SELECT x'0', x'zz', x'00''00', max'00'"),
        ("SELECT user, t.user, users, 'user', \"user\"", "SELECT \"user\", t.\"user\", users, 'user', \"user\""),
        ("SELECT 0x1F, 1e5, 1.5, ?", "SELECT 0x1F, 1e5, 1.5, $1"),
        ("SELECT caf\u{e9}, ?", "SELECT caf\u{e9}, $1"),
        ("a CROSS JOIN b ON c", "a  JOIN b ON c"), ("SELECT cross FROM t", "SELECT cross FROM t"),
        ("a IS ? AND b IS NOT :b", "a IS NOT DISTINCT FROM $1 AND b IS DISTINCT FROM $2"),
        ("a is not 10 OR (a) IS NOT (SELECT 1)", "a IS DISTINCT FROM 10 OR (a) IS DISTINCT FROM (SELECT 1)"),
        ("a IS NULL, b IS NOT null, c IS TRUE", "a IS NULL, b IS NOT null, c IS TRUE"),
        ("id - (1 << 62), 2<<?", "id - (1::bigint << 62), 2::bigint<<$1"), ("1 < 2, a <<", "1 < 2, a <<"),
        ("a IS NOT DISTINCT FROM ?", "a IS NOT DISTINCT FROM $1"), ("a IS", "a IS"), ("a IS NOT ", "a IS NOT "),
        // Texts that are no SQL.
        ("'", "'"), ("\"", "\""), ("'a?", "'a?"), ("/*", "/*"), ("/*/", "/*/"), ("/* ?", "/* ?"), ("--", "--"),
        ("x'", "x'"), ("x'00", "x'00"), ("x''' ?", "x''' ?"), ("?", "$1"), (":", ":"), ("::", "::"), (":::a", "::$1"),
        ("INDEXED", "INDEXED"), ("INDEXED BY", "INDEXED BY"), ("NOT INDEXED", ""), ("a\0?", "a $1"), ("-", "-"),
    ])
    func aTextIsTranslated(text: String, expected: String) { #expect(PostgreSQLText(text).sql == expected) }

    @Test func parametersHaveTheNumbersOfSQLite() {
        let text = PostgreSQLText("SELECT ?3, :a, ?, :b, :a")
        #expect(text.sql == "SELECT $3, $4, $5, $6, $4")
        #expect(text.parameterCount == 6)
        #expect(text.position(of: "a") == 4)
        #expect(text.position(of: "b") == 6)
        #expect(text.position(of: "c") == nil)
        #expect((1...7).filter(text.hasParameter) == [3, 4, 5, 6])
    }

    @Test func columnsAreNamedAsTheStoreSpellsThem() {
        let text = PostgreSQLText(
            "SELECT userID, MAX(a) AS latestRun, b AS lastseen, lastSeen FROM t",
            columns: [
                "registeredat": "registeredAt", "max": "max", "userid": "userId",
            ]
        )
        #expect(text.columnName("userid") == "userID")
        #expect(text.columnName("latestrun") == "latestRun")
        #expect(text.columnName("lastseen") == "lastseen")
        #expect(text.columnName("max") == "max")
        #expect(text.columnName("registeredat") == "registeredAt")
        #expect(text.columnName("other") == "other")
    }

    /// Any text is translated, and strings in it stay as they are.
    @Test func noTextIsTooStrange() {
        let parts = [
            "'", "\"", "?", "?1", "??", ":a", "::", ":", "--", "\n", "/*", "*/", "x'", "X'00'", "INDEXED", " BY ",
            "NOT ",
            "user", " AS ", "Ab", "$1", "\0", "\u{e9}", "\u{1F980}", "0", "9.", "e", "(", ";", "\\", "65535", "\r\n",
        ]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let text = (0..<count).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            let translated = PostgreSQLText(text)
            #expect(!translated.sql.utf8.contains(0))
            #expect((0...PostgreSQLText.maximumParameter).contains(translated.parameterCount))
            let string = "'\(text.replacing("'", with: "''").replacing("\0", with: ""))'"
            #expect(PostgreSQLText(string).sql == string)
        }
    }
}
#endif
