import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct NonceCacheTests {
    let now = Timestamp(seconds: 1_700_000_000)

    @Test func aNonceServesOnce() {
        var nonces = NonceCache()
        let nonce = DeviceLinkNonce(time: self.now, random: 1)
        let first = nonces.accept(nonce, now: self.now)
        #expect(first)
        let again = nonces.accept(nonce, now: self.now)
        #expect(!again)
        let other = nonces.accept(DeviceLinkNonce(time: self.now, random: 2), now: self.now)
        #expect(other)
    }

    @Test(arguments: [(-300, true), (-301, false), (300, true), (301, false)])
    func aNonceIsGoodForFiveMinutesEitherWay(seconds: Int, isGood: Bool) {
        var nonces = NonceCache()
        let nonce = DeviceLinkNonce(time: self.now.advanced(by: .seconds(seconds)), random: 1)
        let isAccepted = nonces.accept(nonce, now: self.now)
        #expect(isAccepted == isGood)
    }

    @Test func aNonceFromTheFutureIsRememberedUntilItIsOld() {
        var nonces = NonceCache()
        let ahead = DeviceLinkNonce(time: self.now.advanced(by: .seconds(300)), random: 1)
        let first = nonces.accept(ahead, now: self.now)
        #expect(first)
        let later = self.now.advanced(by: .seconds(600))
        let again = nonces.accept(ahead, now: later)
        #expect(!again)
    }
}
