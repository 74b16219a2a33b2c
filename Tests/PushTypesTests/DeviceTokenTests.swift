import PushTesting
import PushTypes
import Testing

@Suite struct DeviceTokenTests {
    @Test(arguments: [
        Vectors.tokenA, Vectors.tokenA.uppercased(),
        "<302bd38c c16adf6c 9383e884 8b91d895 afccb2a5 a5d1d524 35f14c47 0aa71767>",
        "MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c=",
    ])
    func everySpellingOfATokenIsTheSameToken(text: String) {
        #expect(DeviceToken(userInput: text)?.hex == Vectors.tokenA)
    }

    @Test func longTokensKeepTheirLength() {
        #expect(DeviceToken(hex: Vectors.tokenC)?.bytes.count == 54)
    }

    @Test(arguments: ["", "zz", "abc", "30 2b", "é"])
    func invalidHexadecimalIsRejected(text: String) {
        #expect(DeviceToken(hex: text) == nil)
    }

    @Test func aTokenHasALimit() {
        #expect(DeviceToken(hex: String(repeating: "ab", count: 512)) != nil)
        #expect(DeviceToken(hex: String(repeating: "ab", count: 513)) == nil)
        #expect(DeviceToken(userInput: String(repeating: "ab", count: 100_000)) == nil)
    }

    @Test func aDescriptionNeverShowsTheWholeToken() throws {
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        #expect("\(token)" == "302bd38c… (32 bytes)")
    }
}
