import PushSupport
import Testing

@testable import ProviderModel

@Suite struct PaceSettingsTests {
    static func parse(_ json: String) throws -> PaceSettings {
        try #require(try fields(#"{"pace":\#(json)}"#, known: ["pace"]).value(PaceSettings.member))
    }

    @Test(arguments: [#"{"rate":500}"#, #"{"waves":{"intervalSeconds":300,"size":10000}}"#])
    func theCanonicalFormIsReadAgain(json: String) throws {
        let settings = try Self.parse(json)
        #expect(String(decoding: try settings.json.text, as: UTF8.self) == json)
        #expect(try PaceSettings(stored: settings.json) == settings)
    }

    @Test(
        arguments: [
            ("{}", "missing_field", "pace.rate"), ("500", "wrong_type", "pace"),
            (#"{"rate":0}"#, "invalid_value", "pace.rate"), (#"{"rate":1000001}"#, "invalid_value", "pace.rate"),
            (#"{"rate":0.5}"#, "wrong_type", "pace.rate"),
            (#"{"rate":1,"waves":{"size":1,"intervalSeconds":1}}"#, "conflicting_field", "pace.waves"),
            (#"{"waves":{"size":1}}"#, "missing_field", "pace.waves.intervalSeconds"),
            (#"{"waves":{"intervalSeconds":1}}"#, "missing_field", "pace.waves.size"),
            (#"{"waves":{"size":0,"intervalSeconds":1}}"#, "invalid_value", "pace.waves.size"),
            (#"{"waves":{"size":1,"interval":1}}"#, "unknown_field", "pace.waves.interval"),
        ]
    )
    func aFaultNamesItsMember(json: String, code: String, field: String) {
        let error = requestError { _ = try Self.parse(json) }
        #expect(error?.code == code)
        #expect(error?.path == field)
    }
}
