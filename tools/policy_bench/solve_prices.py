"""Finds the prices of a bound with the HiGHS solver: `solve_prices.py PROBLEM PRICES`.

PROBLEM is what price_solver.cpp writes: slots, sides and epochs counted; seconds and room of each slot; each side; then
each epoch: bytes, slot written (-1: none), first and last checkpoint of each gap. The step is solved as a linear
programme; what the rows for room and for the links' time are worth at its optimum goes to PRICES. What they prove is
worked out by whoever reads them, so nothing here can make a bound wrong.
"""

import sys

import highspy
import numpy

INFINITE = highspy.kHighsInf


class Programme:
    def __init__(self):
        self.cost, self.upper = [], []
        self.starts, self.columns, self.values = [0], [], []
        self.row_lower, self.row_upper = [], []

    def variable(self, cost, upper):
        self.cost.append(cost)
        self.upper.append(upper)
        return len(self.cost) - 1

    def row(self, terms, lower, upper):
        for column, value in terms:
            self.columns.append(column)
            self.values.append(value)
        self.starts.append(len(self.columns))
        self.row_lower.append(lower)
        self.row_upper.append(upper)
        return len(self.row_lower) - 1

    def duals(self):
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.cost), len(self.row_lower)
        model.col_cost_ = numpy.array(self.cost, float)
        model.col_lower_ = numpy.zeros(len(self.cost))
        model.col_upper_ = numpy.array(self.upper, float)
        model.row_lower_, model.row_upper_ = numpy.array(self.row_lower, float), numpy.array(self.row_upper, float)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = numpy.array(self.starts)
        model.a_matrix_.index_ = numpy.array(self.columns)
        model.a_matrix_.value_ = numpy.array(self.values, float)
        solver = highspy.Highs()
        for option, value in (("output_flag", False), ("solver", "ipm"), ("run_crossover", "off"), ("threads", 1)):
            solver.setOptionValue(option, value)
        solver.passModel(model)
        solver.run()
        return solver.getSolution().row_dual


class Step:
    """The programme: minimise stall; what is held fits, what is moved takes its time, what is used is there."""

    def __init__(self, words):
        self.words = iter(words)
        self.slots, sides, epochs = (int(next(self.words)) for _ in range(3))
        self.programme = Programme()
        self.seconds = self.numbers(self.slots)
        self.room = self.numbers(self.slots)
        self.sides = [self.numbers(2) for _ in range(sides)]
        self.held = [[] for _ in range(self.slots)]
        self.ins = [[] for _ in range(self.slots)]
        self.outs = [[] for _ in range(self.slots)]
        for _ in range(epochs):
            self.epoch()

    def numbers(self, count):
        return [float(next(self.words)) for _ in range(count)]

    def epoch(self):
        size, written, gaps = float(next(self.words)), int(next(self.words)), int(next(self.words))
        copied, looked = None, written
        for _ in range(gaps):
            first, last = int(next(self.words)), int(next(self.words))
            before = None
            for checkpoint in range(first, last + 1):
                held = self.programme.variable(0, size)
                self.held[checkpoint % self.slots].append((held, 1))
                if before is not None:
                    self.programme.row([(held, 1), (before[0], -1), (before[1], -1)], -INFINITE, 0)
                if written >= 0:
                    copied, looked = self.copies(size, copied, looked, checkpoint)
                    self.programme.row([(held, 1)] + ([(copied, 1)] if copied is not None else []), size, INFINITE)
                coming = self.programme.variable(0, size)
                self.ins[checkpoint % self.slots].append(coming)
                before = (held, coming)
            self.programme.row([(before[0], 1), (before[1], 1)], size, INFINITE)

    def copies(self, size, copied, looked, until):
        """A variable for what has been copied out in the slots before `until`."""
        for slot in range(looked, until):
            leaving, total = self.programme.variable(0, size), self.programme.variable(0, size)
            self.outs[slot % self.slots].append(leaving)
            self.programme.row([(total, 1), (leaving, -1)] + ([(copied, -1)] if copied is not None else []), -INFINITE, 0)
            copied = total
        return copied, max(looked, until)

    def prices(self):
        room = [self.programme.row(held, -INFINITE, self.room[slot]) for slot, held in enumerate(self.held)]
        stalls = [self.programme.variable(1, INFINITE) for _ in range(self.slots)]
        sides = []
        for seconds_in, seconds_out in self.sides:
            sides.append([self.programme.row([(column, seconds_in) for column in self.ins[slot]]
                                             + [(column, seconds_out) for column in self.outs[slot]]
                                             + [(stalls[slot], -1)], -INFINITE, self.seconds[slot])
                          for slot in range(self.slots)])
        duals = self.programme.duals()
        return [[-duals[row] for row in rows] for rows in (room, *sides)]


def main():
    with open(sys.argv[1], encoding="utf-8") as problem:
        prices = Step(problem.read().split()).prices()
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.writelines(" ".join(f"{price:.17g}" for price in row) + "\n" for row in prices)


if __name__ == "__main__":
    main()
