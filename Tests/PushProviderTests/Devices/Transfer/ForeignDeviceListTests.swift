import Foundation
import NIOCore
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Lists of devices of other servers.
@Suite struct ForeignDeviceListTests {
    private static let a = Vectors.tokenA
    private static let c = Vectors.tokenC

    /// Returns the records of a file that is read in pieces of a size.
    private static func read(
        _ text: String,
        _ source: ImportSource,
        environment: PushEnvironment = .production,
        pieces size: Int = 7
    ) throws -> [RegistrationReader.Record] {
        let defaults = ImportDefaults(bundleID: Topic(Vectors.bundleID), environment: environment)
        var reader = RegistrationReader(source, defaults)
        var records: [RegistrationReader.Record] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
            records += try reader.feed(piece.readableBytesView)
        }
        records += try reader.finish()
        return records
    }

    private static func codes(_ records: [RegistrationReader.Record]) -> [String?] {
        records.map { record in
            if case .failure(let error) = record.content { error.code } else { nil }
        }
    }

    private static func tags(_ registration: DeviceRegistration) -> [String] {
        (registration.tags ?? []).sorted().map(\.text)
    }

    @Test func anArrayOfAeroGearIsRead() throws {
        let spaced = "\(Self.a.prefix(8)) \(Self.a.dropFirst(8).prefix(8))-\(Self.a.dropFirst(16))"
        let text: String = """
            [
              {"deviceToken": "\(spaced)", "alias": "alice", "categories": ["news", "sport", ""],
               "operatingSystem": "iOS", "osVersion": "9.3", "deviceType": "iPad"},
              {"deviceToken": "\(Self.c)", "operatingSystem": "android"},
              {"deviceToken": "\(Self.c)", "enabled": false},
              {"alias": "nobody"}, nonsense,
              {"deviceToken": "\(Self.c)"}
            ]
            """
        let records = try Self.read(text, ImportSource(.elements, list: .aerogear), environment: .sandbox)
        let codes: [String?] = [nil, "other_platform", "inactive", "missing_field", "invalid_json", nil]
        #expect(Self.codes(records) == codes)
        #expect(records.map(\.line) == [2, 4, 5, 6, 6, 7])
        let first = try #require(records.first).content.get()
        #expect(first.token.hex == Self.a)
        #expect(first.environment == .sandbox)
        #expect(first.user?.value == "alice")
        #expect(Self.tags(first) == ["news", "sport"])
        #expect(first.attributes["deviceType"]?.value?.stringValue == "iPad")
        #expect(first.attributes["osVersion"]?.value?.stringValue == "9.3")
    }

    @Test func installationsOfParseAreRead() throws {
        let record: String = """
            {"deviceType":"ios","deviceToken":"\(Self.a)","installationId":"0b5e-installation","channels":["global"],
            "timeZone":"Europe/Berlin","localeIdentifier":"de-DE","appVersion":"2.1","badge":3,
            "appIdentifier":"\(Vectors.bundleID)","user":{"__type":"Pointer","className":"_User","objectId":"u1"}}
            """
        let text: String = """
            { "results" : [\(record),{"deviceType":"ios","deviceToken":"\(Self.c)","appIdentifier":"org.x"},
            {"deviceType":"android","deviceToken":"x"},
            {"deviceToken":"\(Self.c)","_p_user":"_User$u2","timeZone":"Mars/Base"}]}
            """
        let records = try Self.read(text, ImportSource(.elements, list: .parse))
        let codes: [String?] = [nil, "other_app", "other_platform", nil]
        #expect(Self.codes(records) == codes)
        let first = try #require(records.first).content.get()
        #expect(first.installation == "0b5e-installation")
        #expect(first.user?.value == "u1")
        #expect(Self.tags(first) == ["global"])
        #expect(first.timeZone?.value == "Europe/Berlin")
        #expect(first.appVersion?.value == "2.1")
        let last = try #require(records.last).content.get()
        #expect(last.user?.value == "u2")
        #expect(last.timeZone == nil, "an unknown zone costs no device")
        let line: String = record.replacing("\n", with: " ")
        let lines = try Self.read("\(line)\n\(line)\n", ImportSource(.lines, list: .parse))
        #expect(lines.count == 2)
    }

    @Test func rowsOfOneSignalAreRead() throws {
        let text: String = """
            id,identifier,session_count,language,timezone,game_version,device_type,tags,invalid_identifier,external_user_id,timezone_id,test_type
            11111111-2222,\(Self.a),3,en,3600,1.2,0,"{""level"":""5""}",f,alice,Europe/Berlin,1
            11111111-3333,\(Self.c),3,en,3600,1.2,1,,f,bob,,
            11111111-4444,\(Self.c),3,en,3600,1.2,0,,t,carol,,
            11111111-5555,,3,en,3600,1.2,0,,f,dave,,
            """
        let records = try Self.read(text, ImportSource(.rows, list: .onesignal))
        let codes: [String?] = [nil, "other_platform", "inactive", "missing_field"]
        #expect(Self.codes(records) == codes)
        #expect(records.map(\.line) == [2, 3, 4, 5])
        let first = try #require(records.first).content.get()
        #expect(first.user?.value == "alice")
        #expect(first.installation == "11111111-2222")
        #expect(first.environment == .sandbox)
        #expect(first.locale?.value == "en")
        #expect(first.attributes["level"]?.value?.stringValue == "5")
    }

    @Test func tablesOfGorushsUsersAreRead() throws {
        let text: String = """
            user_id,platform,device_token,topic,production,development
            alice,1,\(Self.a),\(Vectors.bundleID).voip,false,true
            bob,2,\(Self.c),,true,
            carol,ios,\(Self.c),org.other,,
            dave,,\(Self.c),,true,
            """
        let records = try Self.read(text, ImportSource(.rows, list: .gorush))
        let codes: [String?] = [nil, "other_platform", "other_app", nil]
        #expect(Self.codes(records) == codes)
        #expect(try records.first?.content.get().environment == .sandbox)
        #expect(try records.last?.content.get().environment == .production)
    }

    @Test func aRecordIsBoundedAndTheNextOneIsRead() throws {
        let long = String(repeating: "x", count: TransferLimits.maximumRecord)
        let text: String = #"[{"alias":"\#(long)"},{"deviceToken":"\#(Self.a)"},{"deviceToken":"#
        let records = try Self.read(text, ImportSource(.elements, list: .aerogear), pieces: 1000)
        let codes: [String?] = ["too_long", nil, "invalid_json"]
        #expect(Self.codes(records) == codes)
    }

    @Test func bracesWithinTextsEndNothing() throws {
        let text: String = #"[{"deviceToken":"\#(Self.a)","alias":"a\"}]{[\\"},{"deviceToken":"\#(Self.c)"}]"#
        let records = try Self.read(text, ImportSource(.elements, list: .aerogear), pieces: 1)
        let codes: [String?] = [nil, nil]
        #expect(Self.codes(records) == codes)
        #expect(try records.first?.content.get().user?.value == #"a"}]{[\"#)
    }

    @Test(
        arguments: [
            ("application/json", ForeignDeviceList.parse, ImportSource(.elements, list: .parse)),
            ("Application/JSON; charset=utf-8", .aerogear, ImportSource(.elements, list: .aerogear)),
            ("text/csv", .onesignal, ImportSource(.rows, list: .onesignal)), ("text/csv", nil, ImportSource(.csv)),
            ("application/json", nil, nil), ("text/plain", .parse, nil),
        ] as [(String, ForeignDeviceList?, ImportSource?)]
    )
    func theTypeOfABodyIsItsContainer(type: String, list: ForeignDeviceList?, source: ImportSource?) {
        #expect(ImportSource(contentType: type, list: list) == source)
    }
}
