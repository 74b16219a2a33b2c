import Foundation
import Synchronization

/// Bounds the streams of live parts, so that open tabs leave connections for others.
final class LivePlaces: Sendable {
    /// The most streams, and the most of one person or API key, however many sessions it has. Default 200 and 4.
    struct Limits: Sendable {
        var total = 200
        var holder = 4
    }

    /// The place of one stream, which is freed once.
    final class Place: Sendable {
        private let places: LivePlaces
        private let holder: UUID
        private let isFree = Mutex(false)

        fileprivate init(_ places: LivePlaces, _ holder: UUID) {
            (self.places, self.holder) = (places, holder)
        }

        func free() {
            let isFirst = self.isFree.withLock { isFree in
                defer { isFree = true }
                return !isFree
            }
            if isFirst { self.places.free(self.holder) }
        }

        // A response that is never written holds no place.
        deinit { self.free() }
    }

    private let limits: Limits
    private let taken = Mutex<[UUID: Int]>([:])

    init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Returns a place; `nil` if all are taken.
    func take(for holder: UUID) -> Place? {
        let isTaken = self.taken.withLock { taken in
            guard taken[holder, default: 0] < self.limits.holder,
                taken.values.reduce(0, +) < self.limits.total
            else { return false }
            taken[holder, default: 0] += 1
            return true
        }
        return isTaken ? Place(self, holder) : nil
    }

    private func free(_ holder: UUID) {
        self.taken.withLock { taken in
            let left = (taken[holder] ?? 1) - 1
            taken[holder] = left > 0 ? left : nil
        }
    }
}
