import Foundation
import PushProtocol
import PushProvider
import PushStore
import PushTesting
import Testing

/// Devices in files.
@Suite struct ImportReaderTests {
    @Test func ndjsonIsReadLineByLine() throws {
        let lines = Self.read(
            .ndjson,
            """
            {"token":"\(Vectors.tokenA)","environment":"sandbox","user":"alice","tags":["a"],"attributes":{"age":30}}\r

            {"token":"AQID","locale":"de_DE","timeZone":null}
               \t
            {"token":"0102"}
            """
        )
        var first = DeviceRegistration(environment: .sandbox, token: try #require(DeviceToken(hex: Vectors.tokenA)))
        first.user = .set("alice")
        first.tags = ["a"]
        first.attributes = ["age": .set(.integer(30))]
        var second = DeviceRegistration(environment: .production, token: try #require(DeviceToken(bytes: [1, 2, 3])))
        second.locale = .set("de-DE")
        second.timeZone = .clear
        let third = DeviceRegistration(environment: .production, token: try #require(DeviceToken(bytes: [1, 2])))
        #expect(lines == [.device(first), .device(second), .device(third)])
    }

    @Test func csvIsReadByItsColumns() throws {
        let lines = Self.read(
            .csv,
            #"""
            user,token,tags,attributes,attributes.plan,attributes.size,environment\#r
            "Alice, ""the"" first\#nof all",\#(Vectors.tokenA.uppercased()),a;b,"{""age"":30}",pro,12,development\#r
            ,0102,"[""x;y"",""z""]",,"""12""",true,\#r
            \#r
            bob,0103,,,,,production
            """#
        )
        var first = DeviceRegistration(environment: .sandbox, token: try #require(DeviceToken(hex: Vectors.tokenA)))
        first.user = .set("Alice, \"the\" first\nof all")
        first.tags = ["a", "b"]
        first.attributes = ["age": .set(.integer(30)), "plan": .set(.string("pro")), "size": .set(.integer(12))]
        var second = DeviceRegistration(environment: .production, token: try #require(DeviceToken(bytes: [1, 2])))
        second.tags = ["x;y", "z"]
        second.attributes = ["plan": .set(.string("12")), "size": .set(.bool(true))]
        var third = DeviceRegistration(environment: .production, token: try #require(DeviceToken(bytes: [1, 3])))
        third.user = .set("bob")
        #expect(lines == [.device(first), .device(second), .device(third)])
    }

    /// However the file is cut, it says the same.
    @Test(arguments: TransferFormat.allCases, ["", "\u{FEFF}"])
    func everyCutGivesTheSame(format: TransferFormat, mark: String) {
        let ndjson = """
            {"token":"0102","user":"ä\u{1F426}"}\r\n\n{"token":"zz"}\n{"token":"0103"}\r\n{}\r\n{"token":"0104"}
            """
        let csv = "user,token\r\n\"a\r\nb\"\"c\",0102\rx,\"01\"03\n\"\",0104\r\n\n\u{1F426},zz\r\nd,0105"
        let bytes = Array((mark + (format == .csv ? csv : ndjson)).utf8)
        let whole = Self.read(format, [bytes])
        #expect(whole.count == 5)
        for cut in 0...bytes.count {
            #expect(Self.read(format, [Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "at \(cut)")
        }
        #expect(Self.read(format, bytes.map { [$0] }) == whole)
    }

    @Test(arguments: [
        (#"{"token":"0102""#, "invalid_json", nil), (#"[]"#, "invalid_json", nil), ("\u{0}\u{1}!", "invalid_json", nil),
        (#"{"user":"a"}"#, "missing_field", "token"), (#"{"token":"xyz!"}"#, "invalid_token", "token"),
        (#"{"token":"0102","usr":"a"}"#, "unknown_field", "usr"),
        (#"{"token":"0102","environment":"moon"}"#, "invalid_environment", "environment"),
        (#"{"token":"0102","timeZone":"Mars/Base"}"#, "invalid_time_zone", "timeZone"),
        (#"{"token":"0102","attributes":{"a":[1]}}"#, "wrong_type", "attributes.a"),
    ])
    func aLineThatIsRefusedIsToldByItsNumber(line: String, code: String, field: String?) {
        let lines = Self.read(.ndjson, "{\"token\":\"01\"}\n\n\(line)\n{\"token\":\"02\"}\n")
        #expect(lines.count == 3)
        guard case .refused(let refusal)? = lines.dropFirst().first else {
            Issue.record("it is refused")
            return
        }
        #expect(refusal.line == 3)
        #expect(refusal.code == code)
        #expect(refusal.field == field)
    }

    @Test(arguments: [
        ("0102,a,b", "wrong_count", nil), ("0102", "wrong_count", nil), ("01\"02,a", "invalid_csv", nil),
        ("\"01\"02,a", "invalid_csv", nil), (",a", "missing_field", "token"), ("zz!,a", "invalid_token", "token"),
        ("0102,\(String(repeating: "x", count: 300))", "too_long", "user"),
    ])
    func aRecordThatIsRefusedIsToldByItsFirstLine(record: String, code: String, field: String?) {
        let lines = Self.read(.csv, "token,user\n01,\"a\nb\"\n\(record)\n02,\n")
        #expect(lines.count == 3)
        guard case .refused(let refusal)? = lines.dropFirst().first else {
            Issue.record("it is refused")
            return
        }
        #expect(refusal.line == 4)
        #expect(refusal.code == code)
        #expect(refusal.field == field)
    }

    @Test(arguments: [
        ("user,tags", "missing_field", "token"), ("token,usr", "unknown_field", "usr"),
        ("token,user,user", "repeated_field", "user"), ("token,attributes.", "unknown_field", "attributes."),
        ("\"token", "invalid_csv", nil), ("{\"token\":\"0102\"}", "invalid_csv", nil),
    ])
    func withoutItsColumnsAFileIsHopeless(header: String, code: String, field: String?) {
        var reader = ImportReader(.csv)
        var lines = reader.read(Array("\(header)\n0102,a\n0103,b\n".utf8)) + reader.read(Array("0104,c".utf8))
        lines += reader.end()
        #expect(reader.isHopeless)
        guard case .refused(let refusal)? = lines.first else {
            Issue.record("it is refused")
            return
        }
        #expect(lines.count == 1)
        #expect(refusal.line == 1)
        #expect(refusal.code == code)
        #expect(refusal.field == field)
    }

    @Test(arguments: TransferFormat.allCases) func aLineThatIsTooLongCostsOnlyItself(format: TransferFormat) {
        let long = String(repeating: "x", count: 70_000)
        let text =
            switch format {
            case .ndjson: "{\"token\":\"01\"}\n{\"token\":\"\(long)\n{\"token\":\"02\"}"
            // A quotation mark that is never closed does not swallow the rest of the file.
            case .csv: "token,user\n01,\n02,\"\(long)\n03,\n"
            }
        let bytes = Array(text.utf8)
        let pieces = stride(from: 0, to: bytes.count, by: 1000).map { Array(bytes[$0..<min($0 + 1000, bytes.count)]) }
        let lines = Self.read(format, pieces)
        #expect(lines.count == 3)
        guard case .refused(let refusal)? = lines.dropFirst().first else {
            Issue.record("it is refused")
            return
        }
        #expect(refusal.code == "too_long")
    }

    @Test func noWholeTokenIsRepeated() {
        let token = String(repeating: "0123456789abcdef", count: 80)
        for text in [
            "{\"token\":\"\(token)\",\"usr\":1}", "{\"token\":\"\(token)zz\"}", "{\"\(token)\":1}", "[\"\(token)\"]",
        ] {
            for line in Self.read(.ndjson, text) { #expect(!"\(line)".contains(token)) }
        }
        for line in Self.read(.csv, "token,user\n\(token)zz,a\n\"\(token)\"x,b\n") {
            #expect(!"\(line)".contains(token))
        }
    }

    @Test(arguments: TransferFormat.allCases) func garbageIsRefusedWithoutACrash(format: TransferFormat) {
        var generator = SeededGenerator(seed: 17)
        let base = Array(
            "token,user,tags,attributes\n0102,\"a\nb\",x;y,\"{\"\"a\"\":1}\"\n{\"token\":\"0102\",\"user\":null}\n".utf8
        )
        for _ in 0..<2000 {
            var bytes = base
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert([0x22, 0x2c, 0x0a, 0x0d, 0xff].randomElement(using: &generator) ?? 0, at: place)
                }
            }
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            let whole = Self.read(format, [bytes])
            #expect(Self.read(format, [Array(bytes[..<cut]), Array(bytes[cut...])]) == whole)
        }
    }

    private static func read(_ format: TransferFormat, _ text: String) -> [ImportReader.Line] {
        self.read(format, [Array(text.utf8)])
    }

    private static func read(_ format: TransferFormat, _ pieces: [[UInt8]]) -> [ImportReader.Line] {
        var reader = ImportReader(format)
        let lines = pieces.flatMap { reader.read($0) }
        return lines + reader.end()
    }
}
