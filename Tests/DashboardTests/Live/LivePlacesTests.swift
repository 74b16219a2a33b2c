import Foundation
import Testing

@testable import Dashboard

@Suite struct LivePlacesTests {
    @Test func aHolderHasSomePlacesAndAllHaveABound() {
        let places = LivePlaces(limits: .init(total: 3, holder: 2))
        let (first, second) = (UUID(), UUID())
        let taken = [places.take(for: first), places.take(for: first)]
        #expect(taken.allSatisfy { $0 != nil })
        #expect(places.take(for: first) == nil)
        let other = places.take(for: second)
        #expect(other != nil)
        #expect(places.take(for: UUID()) == nil)
        taken[0]?.free()
        taken[0]?.free()
        #expect(places.take(for: first) != nil)
    }

    @Test func aPlaceThatNobodyKeepsIsFree() {
        let places = LivePlaces(limits: .init(total: 1, holder: 1))
        for _ in 0..<3 { #expect(places.take(for: UUID()) != nil) }
    }
}
