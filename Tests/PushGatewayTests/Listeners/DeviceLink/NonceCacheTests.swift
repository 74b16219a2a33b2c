import Foundation
import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct NonceCacheTests {
    let now = Timestamp(seconds: 1_700_000_000)
    let device = UUID()

    @Test func aNonceServesOnce() {
        var nonces = NonceCache()
        let nonce = DeviceLinkNonce(time: self.now, random: 1)
        let first = nonces.accept(nonce, of: self.device, now: self.now)
        #expect(first)
        let again = nonces.accept(nonce, of: self.device, now: self.now)
        #expect(!again)
        let other = nonces.accept(DeviceLinkNonce(time: self.now, random: 2), of: self.device, now: self.now)
        #expect(other)
    }

    @Test(arguments: [(-300, true), (-301, false), (300, true), (301, false)])
    func aNonceIsGoodForFiveMinutesEitherWay(seconds: Int, isGood: Bool) {
        var nonces = NonceCache()
        let nonce = DeviceLinkNonce(time: self.now.advanced(by: .seconds(seconds)), random: 1)
        let isAccepted = nonces.accept(nonce, of: self.device, now: self.now)
        #expect(isAccepted == isGood)
    }

    @Test func aNonceFromTheFutureIsRememberedUntilItIsOld() {
        var nonces = NonceCache()
        let ahead = DeviceLinkNonce(time: self.now.advanced(by: .seconds(300)), random: 1)
        let first = nonces.accept(ahead, of: self.device, now: self.now)
        #expect(first)
        let later = self.now.advanced(by: .seconds(600))
        let again = nonces.accept(ahead, of: self.device, now: later)
        #expect(!again)
    }

    /// Of the nonces that were forgotten, none is accepted again.
    @Test func howeverOftenADeviceConnectsItStaysWithinItsMemory() {
        var nonces = NonceCache()
        let used = (0..<1000).map { number in
            DeviceLinkNonce(time: self.now.advanced(by: .milliseconds(number)), random: 1)
        }
        let fresh = used.count { nonces.accept($0, of: self.device, now: self.now) }
        #expect(fresh == 1000)
        #expect(nonces.count == NonceCache.maximum)
        let replayed = used.count { nonces.accept($0, of: self.device, now: self.now) }
        #expect(replayed == 0)
    }

    /// A device can make its own clock useless, and no other one's.
    @Test func aDeviceThatConnectsAgainAndAgainTakesNothingFromOthers() {
        var nonces = NonceCache()
        let ahead = self.now.advanced(by: NonceCache.window)
        for number in 0..<100_000 {
            _ = nonces.accept(DeviceLinkNonce(time: ahead, random: UInt64(number)), of: self.device, now: self.now)
        }
        #expect(nonces.count <= NonceCache.maximum)
        let nonce = DeviceLinkNonce(time: self.now, random: 1)
        let (own, other) = (
            nonces.accept(nonce, of: self.device, now: self.now), nonces.accept(nonce, of: UUID(), now: self.now)
        )
        #expect(!own && other)
    }

    @Test func aDeviceWhoseNoncesAreOldIsForgotten() {
        var nonces = NonceCache()
        _ = nonces.accept(DeviceLinkNonce(time: self.now, random: 1), of: self.device, now: self.now)
        let later = self.now.advanced(by: .seconds(301))
        _ = nonces.accept(DeviceLinkNonce(time: later, random: 1), of: UUID(), now: later)
        #expect(nonces.count == 1)
    }
}
