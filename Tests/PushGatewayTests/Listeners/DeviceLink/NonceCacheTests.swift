import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct NonceGuardTests {
    let now = Timestamp(seconds: 1_700_000_000)

    @Test func aNonceServesOnce() {
        var nonces = NonceCache()
        let nonce = DeviceLinkNonce(time: self.now, random: 1)
        let answer1 = nonces.accept(nonce, now: self.now)
        #expect(answer1)
        let answer2 = nonces.accept(nonce, now: self.now)
        #expect(!answer2)
        let answer3 = nonces.accept(DeviceLinkNonce(time: self.now, random: 2), now: self.now)
        #expect(answer3)
    }

    @Test(arguments: [(-300, true), (-301, false), (300, true), (301, false)])
    func aNonceIsGoodForFiveMinutesEitherWay(seconds: Int, isGood: Bool) {
        var nonces = NonceCache()
        let nonce = DeviceLinkNonce(time: self.now.advanced(by: .seconds(seconds)), random: 1)
        let answer4 = nonces.accept(nonce, now: self.now)
        #expect(answer4 == isGood)
    }

    @Test func aNonceFromTheFutureIsRememberedUntilItIsOld() {
        var nonces = NonceCache()
        let ahead = DeviceLinkNonce(time: self.now.advanced(by: .seconds(300)), random: 1)
        let answer5 = nonces.accept(ahead, now: self.now)
        #expect(answer5)
        let later = self.now.advanced(by: .seconds(600))
        let answer6 = nonces.accept(ahead, now: later)
        #expect(!answer6)
    }
}
