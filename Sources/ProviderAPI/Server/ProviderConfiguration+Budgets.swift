import PushProvider
package import PushSupport

extension ProviderConfiguration {
    /// The limits of the budgets that differ from their defaults.
    package var budgets: [BudgetedResource: BudgetLimits] {
        var changed: [BudgetedResource: BudgetLimits] = [:]
        func set(_ resource: BudgetedResource, _ change: (inout BudgetLimits) -> Void) {
            change(&changed[resource, default: resource.row.limits])
        }
        set(.newConnections) { limits in
            limits.bounds.app = .rate(self.limits.connectionRate)
            // Others in a network with a key need have none: their connections leave half to the app's other networks.
            limits.bounds.caller = .rate((self.limits.connectionRate + 1) / 2)
        }
        set(.strangerConnections) { limits in
            limits.bounds.whole = .rate(self.limits.connectionRate)
            limits.bounds.caller = .rate((self.limits.connectionRate + 9) / 10)
        }
        set(.connections) { $0.bounds.whole = .held(self.limits.connections) }
        set(.requests) { $0.bounds.caller = .rate(self.limits.keyRate) }
        set(.publicRequests) { $0.bounds.caller = .rate(self.limits.publicKeyRate) }
        set(.forms) { limits in
            limits.bounds.app = .rate(self.limits.keyRate)
            // Strangers post them: one address has a tenth.
            limits.bounds.caller = .rate((self.limits.keyRate + 9) / 10)
        }
        set(.bridgeRequests) { $0.bounds.app = .rate(self.limits.keyRate) }
        set(.matrixRequests) { $0.bounds.caller = .rate(self.limits.homeserverRate) }
        set(.addressMessages) { $0.bounds.caller = .rate(self.limits.keyRate) }
        if let openFiles = self.openFiles {
            // The other half is for those who connect here, for files, and for what else goes out.
            set(.chatConnections) { $0.bounds.whole = .held(max(1, openFiles / 2)) }
        }
        set(.downloads) { $0.bounds.whole = .held(self.publishing.maximumDownloads) }
        return changed.merging(self.budgetLimits) { $1 }
    }
}

extension BudgetBound {
    /// Returns a rate with twice as many at once; `nil`, no bound, for 0.
    fileprivate static func rate(_ perSecond: Int) -> BudgetBound? {
        perSecond > 0 ? .rate(perSecond: Double(perSecond), burst: 2 * Double(perSecond)) : nil
    }
}
