import Foundation
import Synchronization

/// Bounds the streams of live parts, so that open tabs leave connections for others.
final class LivePlaces: Sendable {
    /// The most streams, and the most of one session. Default 200 and 8.
    struct Limits: Sendable {
        var total = 200
        var session = 8
    }

    /// The place of one stream, which is freed once.
    final class Place: Sendable {
        private let places: LivePlaces
        private let session: UUID
        private let isFree = Mutex(false)

        fileprivate init(_ places: LivePlaces, _ session: UUID) {
            (self.places, self.session) = (places, session)
        }

        func free() {
            let isFirst = self.isFree.withLock { isFree in
                defer { isFree = true }
                return !isFree
            }
            if isFirst { self.places.free(self.session) }
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
    func take(for session: UUID) -> Place? {
        let isTaken = self.taken.withLock { taken in
            guard taken[session, default: 0] < self.limits.session,
                taken.values.reduce(0, +) < self.limits.total
            else { return false }
            taken[session, default: 0] += 1
            return true
        }
        return isTaken ? Place(self, session) : nil
    }

    private func free(_ session: UUID) {
        self.taken.withLock { taken in
            let left = (taken[session] ?? 1) - 1
            taken[session] = left > 0 ? left : nil
        }
    }
}
