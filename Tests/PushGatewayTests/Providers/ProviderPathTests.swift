import PushTesting
import PushTypes
import Testing

@testable import PushGateway

@Suite struct ProviderPathTests {
    @Test func aDevicePathHoldsItsToken() {
        let token = DeviceToken(hex: Vectors.tokenC)
        #expect(ProviderPath("/3/device/\(Vectors.tokenC)") == .device(token))
        #expect(ProviderPath("/3/device/\(Vectors.tokenC.uppercased())") == .device(token))
        #expect(ProviderPath("/3/device/") == .missingDevice)
        let longest = String(repeating: "ab", count: DeviceToken.maximumLength)
        #expect(ProviderPath("/3/device/\(longest)") == .device(DeviceToken(hex: longest)))
    }

    @Test(arguments: [
        "0", "zz", "00 ", " 00", "00/", "00?x=1", "0x00", "%30%30", "é", "00\0", String(repeating: "ab", count: 513),
    ])
    func whatIsNotHexadecimalIsNoToken(text: String) {
        #expect(ProviderPath("/3/device/\(text)") == .device(nil))
    }

    @Test(arguments: [
        ("/4/broadcasts/apps/com.example.MyApp", ProviderPath.broadcast("com.example.MyApp")),
        ("/1/apps/com.example.MyApp/channels", .channels("com.example.MyApp")),
        ("/1/apps/com.example.MyApp/all-channels", .allChannels("com.example.MyApp")),
        ("/4/broadcasts/apps/", .unknown), ("/4/broadcasts/apps/a/b", .unknown), ("/4/broadcasts/apps", .unknown),
        ("/1/apps//channels", .unknown), ("/1/apps/a/channels/", .unknown), ("/1/apps/a/channels/b", .unknown),
        ("/1/apps/a", .unknown), ("/1/apps/a/Channels", .unknown), ("/3/device", .unknown), ("/3/Device/00", .unknown),
        ("/2/device/00", .unknown), ("", .unknown), ("/", .unknown), ("3/device/00", .unknown), ("*", .unknown),
    ])
    func otherPathsAreWhatTheReferenceNames(path: String, expected: ProviderPath) {
        #expect(ProviderPath(path) == expected)
    }

    @Test func garbageIsSomePathAndCrashesNothing() {
        var generator = SeededGenerator(seed: 3)
        let pieces = [
            "/", "3", "device", "1", "apps", "channels", "4", "broadcasts", "00", "ff", "\0", "é", "%2f", "..", "?",
            "#",
        ]
        for _ in 0..<2000 {
            let count = Int.random(in: 0...12, using: &generator)
            let path = (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            switch ProviderPath(path) {
            case .device(let token):
                #expect(path.hasPrefix("/3/device/"))
                #expect((token != nil) == (DeviceToken(hex: path.dropFirst(10)) != nil))
            case .missingDevice: #expect(path == "/3/device/")
            case .broadcast(let app), .channels(let app), .allChannels(let app):
                #expect(!app.isEmpty && !app.contains("/"))
            case .unknown: break
            }
        }
    }
}
